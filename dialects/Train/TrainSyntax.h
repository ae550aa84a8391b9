// The words of train.program.
#pragma once

#include "dialects/Train/ProgramSettings.h"

namespace trainc::train {

/// The words that lines of train.program begin with.
llvm::SmallVector<llvm::StringRef> lineWords();

/// `adamw(lr 6e-4, weight_decay 0.1)`
mlir::ParseResult parseOptimizer(mlir::AsmParser &parser, OptimizerAttr &optimizer);
void printOptimizer(mlir::AsmPrinter &printer, OptimizerAttr optimizer);

/// `cosine(warmup 700, minimum 6e-5)`
mlir::ParseResult parseSchedule(mlir::AsmParser &parser, ScheduleAttr &schedule);
void printSchedule(mlir::AsmPrinter &printer, ScheduleAttr schedule);

/// `"*.bias" weight_decay 0.0`
mlir::ParseResult parseGroup(mlir::AsmParser &parser, GroupAttr &group);
void printGroup(mlir::AsmPrinter &printer, GroupAttr group);

/// `(wrap = "layer", prefetch = 2)`
mlir::ParseResult parseSharding(mlir::AsmParser &parser, ShardingAttr &sharding);

/// The value of a choice, such as `fp32_products bf16x3`, which becomes the attribute of its name.
mlir::ParseResult parseChoice(mlir::OpAsmParser &parser, const ProgramWord &word,
                              mlir::NamedAttrList &attributes);

/// Words with commas between them, such as `cpu "x86-64-v3,x86-64-v4"`.
mlir::ParseResult parseWords(mlir::OpAsmParser &parser, const ProgramWord &word,
                             mlir::NamedAttrList &attributes);

/// `bf16 (params = f32, keep "*.norm.*" f32)`: the word `precision` and those inside, each an attribute.
mlir::ParseResult parsePrecision(mlir::OpAsmParser &parser, mlir::NamedAttrList &attributes);
/// Prints it, unless it says what holds anyway.
void printPrecision(llvm::function_ref<mlir::OpAsmPrinter &(llvm::StringRef)> line, ProgramOp program);

/// `16GiB`, or a number of bytes.
mlir::ParseResult parseBytes(mlir::AsmParser &parser, mlir::IntegerAttr &attribute);

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
