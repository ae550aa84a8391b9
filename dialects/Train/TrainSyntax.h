// Syntax of train.program's settings.
#pragma once

#include "dialects/Train/ProgramSettings.h"

namespace trainc::train {

/// Parses `adamw(lr 6e-4, weight_decay 0.1)`.
mlir::ParseResult parseOptimizer(mlir::AsmParser &parser, OptimizerAttr &optimizer);
void printOptimizer(mlir::AsmPrinter &printer, OptimizerAttr optimizer);

/// Parses `cosine(warmup 700, minimum 6e-5)`.
mlir::ParseResult parseSchedule(mlir::AsmParser &parser, ScheduleAttr &schedule);
void printSchedule(mlir::AsmPrinter &printer, ScheduleAttr schedule);

/// Parses `"*.bias" weight_decay 0.0`.
mlir::ParseResult parseGroup(mlir::AsmParser &parser, GroupAttr &group);
void printGroup(mlir::AsmPrinter &printer, GroupAttr group);

/// Parses the value of a setting: a number, a size, a word, or a quoted list. Null if it fails.
mlir::Attribute parseValue(mlir::OpAsmParser &parser, const Setting &setting);
void printValue(mlir::OpAsmPrinter &printer, const Setting &setting, mlir::Attribute value);

/// A number in parentheses: its word, and its destination.
struct NumberField {
  llvm::StringRef word;
  double *value;
  bool isSet = false;
};

/// Reports `=`, `:` or `(` between a word and its value, as other languages have it; says what to write.
mlir::ParseResult refuseSign(mlir::AsmParser &parser, llvm::StringRef word);

/// Parses `(word number, ...)`, or nothing. Errors name `what` and the valid words.
mlir::ParseResult parseNumbers(mlir::AsmParser &parser, llvm::StringRef what,
                               llvm::MutableArrayRef<NumberField> fields);

/// Prints `(word number, ...)` for words that are set; nothing if none is.
void printNumbers(mlir::AsmPrinter &printer, llvm::ArrayRef<NumberField> fields);

} // namespace trainc::train
