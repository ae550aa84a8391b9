// Settings in words: `(lr 6e-4, beta2 0.95)`.
#pragma once

#include "dialects/NN/Syntax.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace trainc::train {

/// A word that may be set to a number, and where the number goes.
struct Setting {
  llvm::StringRef word;
  double *value;
  bool isSet = false;
};

/// "a, b and c" for messages.
std::string listWords(llvm::ArrayRef<llvm::StringRef> words);

/// Parses `(word number, ...)`, or nothing. Errors name `what`, and the words that it has.
mlir::ParseResult parseSettings(mlir::AsmParser &parser, llvm::StringRef what,
                                llvm::MutableArrayRef<Setting> settings);

/// Prints `(word number, ...)` of those set; nothing where none is.
void printSettings(mlir::AsmPrinter &printer, llvm::ArrayRef<Setting> settings);

} // namespace trainc::train
