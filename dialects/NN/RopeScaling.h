// Scalings of rotary frequencies for contexts longer than those of pretraining: syntax and tables.
#pragma once

#include "dialects/NN/NN.h"

namespace trainc::nn {

/// Parses `llama3(factor 32, low 1, high 4, original 8192)`: the custom directive `RopeScaling`.
mlir::ParseResult parseRopeScaling(mlir::AsmParser &parser, RopeScalingAttr &scaling);
void printRopeScaling(mlir::AsmPrinter &printer, mlir::Operation *op, RopeScalingAttr scaling);

/// Angles of rotary positions: pair i of a head turns by position * frequencies[i].
struct RopeTable {
  llvm::SmallVector<double> frequencies; ///< radians per position, rotary / 2 of them
  double factor = 1;                     ///< of cosines and sines
};

/// Returns the scaling for sequences of `length` positions: of two lists of factors, the one for this length.
RopeScalingAttr forLength(RopeScalingAttr scaling, int64_t length);

/// Returns the table of `rotary` rotated numbers per head. `scaling` may be null. Of two lists of
/// factors, the table has those for short sequences.
RopeTable ropeTable(double theta, int64_t rotary, RopeScalingAttr scaling);

} // namespace trainc::nn
