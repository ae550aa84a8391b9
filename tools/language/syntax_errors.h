// Translation of MLIR's messages into terms of the model language.
#pragma once

#include "tools/language/text_position.h"

#include "mlir/IR/MLIRContext.h"

namespace trainc {

/// A message and the offset in the text that it refers to; without an offset, the location of MLIR's message.
struct SyntaxError {
  std::string text;
  std::optional<size_t> offset = std::nullopt;
};

/// Translates a message of MLIR's parser about the text at `position`. `context` has the ops.
SyntaxError explainSyntaxError(llvm::StringRef message, const TextPosition &position,
                               mlir::MLIRContext &context);

/// Translates a message of MLIR's verifier; returns nothing if the message is an op's own.
std::optional<std::string> explainVerifierError(llvm::StringRef message);

} // namespace trainc
