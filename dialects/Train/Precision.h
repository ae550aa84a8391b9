// Types in which a program stores its numbers and computes.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc::train {

/// Settings of the theme Precision that are types, with their defaults.
struct PrecisionSettings {
  mlir::FloatType compute, eval;   ///< types of ops that allow it: in step and generation, and in evaluation
  mlir::FloatType params;          ///< type of stored parameters
  mlir::FloatType optimizerStates; ///< type of the optimizer's moments
  mlir::FloatType reduce;          ///< type of gradients that ranks exchange
  bool multipliesFp8 = false;      ///< whether the training step computes matrix products in fp8
  llvm::SmallVector<llvm::StringRef> keep; ///< patterns of parameters that are read in f32

  bool computesLow() const { return !compute.isF32(); }
  /// Whether updates are stochastically rounded.
  bool roundsAtRandom() const { return params.isBF16() || optimizerStates.isBF16(); }
  /// Whether ops that read the parameter compute in f32.
  bool keepsF32(llvm::StringRef parameter) const;
};

PrecisionSettings precisionOf(ProgramOp program);

} // namespace trainc::train
