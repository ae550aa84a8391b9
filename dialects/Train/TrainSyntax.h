// The words of train.program.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc::train {

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

/// The value of a word with one value so far, such as `precision fp32`; any other is an error. Nothing if
/// `word` is none of them.
std::optional<mlir::ParseResult> parseFixedWord(mlir::AsmParser &parser, llvm::StringRef word);

/// A word with a value of a few, such as `fp32_products bf16x3`.
struct ChoiceWord {
  llvm::StringRef word;
  llvm::ArrayRef<llvm::StringRef> values;
};
llvm::ArrayRef<ChoiceWord> choiceWords();
/// Fails with an error that names the values if `value` is none of them.
llvm::LogicalResult checkChoice(const ChoiceWord &choice, llvm::StringRef value,
                                llvm::function_ref<mlir::InFlightDiagnostic()> error);
/// The value of a choice, which becomes the attribute of its name. Nothing if `word` is none.
std::optional<mlir::ParseResult> parseChoice(mlir::OpAsmParser &parser, llvm::StringRef word,
                                             mlir::NamedAttrList &attributes);

/// `16GiB`, or a number of bytes.
mlir::ParseResult parseBytes(mlir::AsmParser &parser, mlir::IntegerAttr &attribute);

} // namespace trainc::train
