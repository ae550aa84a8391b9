// Syntax of train.program's settings.
#pragma once

#include "dialects/Train/ProgramSettings.h"

namespace trainc::train {

/// Returns the words that begin lines of train.program.
llvm::SmallVector<llvm::StringRef> lineWords();

/// Parses `adamw(lr 6e-4, weight_decay 0.1)`.
mlir::ParseResult parseOptimizer(mlir::AsmParser &parser, OptimizerAttr &optimizer);
void printOptimizer(mlir::AsmPrinter &printer, OptimizerAttr optimizer);

/// Parses `cosine(warmup 700, minimum 6e-5)`.
mlir::ParseResult parseSchedule(mlir::AsmParser &parser, ScheduleAttr &schedule);
void printSchedule(mlir::AsmPrinter &printer, ScheduleAttr schedule);

/// Parses `"*.bias" weight_decay 0.0`.
mlir::ParseResult parseGroup(mlir::AsmParser &parser, GroupAttr &group);
void printGroup(mlir::AsmPrinter &printer, GroupAttr group);

/// Parses `(wrap = "layer", prefetch = 2)`.
mlir::ParseResult parseSharding(mlir::AsmParser &parser, ShardingAttr &sharding);

/// Parses a choice, such as `fp32_products bf16x3`, into the attribute of that name.
mlir::ParseResult parseChoice(mlir::OpAsmParser &parser, const ProgramWord &word,
                              mlir::NamedAttrList &attributes);

/// Parses comma-separated words, such as `cpu "x86-64-v3,x86-64-v4"`.
mlir::ParseResult parseWords(mlir::OpAsmParser &parser, const ProgramWord &word,
                             mlir::NamedAttrList &attributes);

/// Parses `bf16 (params = f32, keep "*.norm.*" f32)` into one attribute for `precision` and one for each word
/// inside.
mlir::ParseResult parsePrecision(mlir::OpAsmParser &parser, mlir::NamedAttrList &attributes);
/// Prints the precision, unless it is the default.
void printPrecision(llvm::function_ref<mlir::OpAsmPrinter &(llvm::StringRef)> line, ProgramOp program);

/// Parses a size, such as `16GiB`, and sets the attribute named by the word.
mlir::ParseResult parseBytes(mlir::OpAsmParser &parser, const ProgramWord &word,
                             mlir::NamedAttrList &attributes);

/// A word that may be set to a number, and the destination of the number.
struct Setting {
  llvm::StringRef word;
  double *value;
  bool isSet = false;
};

/// Returns "a, b and c" for messages.
std::string listWords(llvm::ArrayRef<llvm::StringRef> words);

/// Parses `(word number, ...)`, or nothing. Errors name `what` and the valid words.
mlir::ParseResult parseSettings(mlir::AsmParser &parser, llvm::StringRef what,
                                llvm::MutableArrayRef<Setting> settings);

/// Prints `(word number, ...)` for words that are set; nothing if none is.
void printSettings(mlir::AsmPrinter &printer, llvm::ArrayRef<Setting> settings);

} // namespace trainc::train
