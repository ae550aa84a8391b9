// In which types a program holds its numbers, and computes.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc::train {

/// A program's words `precision bf16 (...)`, `eval_precision` and `optimizer_states`, with their defaults.
struct PrecisionSettings {
  mlir::FloatType compute, eval;   ///< of the step and generation, and of evaluation, where ops allow it
  mlir::FloatType params;          ///< of parameters that live across steps
  mlir::FloatType optimizerStates; ///< of the optimizer's moments
  mlir::FloatType reduce;          ///< of gradients on their way between ranks
  mlir::FloatType buffers;         ///< of columns of the data where a step computes in the low type
  bool multipliesFp8 = false;      ///< whether the training step multiplies matrices in fp8
  llvm::SmallVector<llvm::StringRef> keep; ///< patterns of parameters that are read in f32

  bool computesLow() const { return !compute.isF32(); }
  /// Whether entries that compute in a low type round columns of the data where they read them.
  bool roundsColumns() const { return computesLow() && !buffers.isF32(); }
  /// Whether updates round at random what they write.
  bool roundsAtRandom() const { return params.isBF16() || optimizerStates.isBF16(); }
  /// Whether ops that read the parameter compute in f32.
  bool keepsF32(llvm::StringRef parameter) const;
};

PrecisionSettings precisionOf(ProgramOp program);

} // namespace trainc::train
