// The words of optimizers, schedules and groups, as train.program has them.
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

} // namespace trainc::train
