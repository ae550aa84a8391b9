// Update of fp8 operand scales from the maximum magnitudes of past steps.
#pragma once

#include "lib/Optimizer/StepBuilder.h"

namespace trainc {

/// Contents of a train.magnitudes op.
struct Magnitudes {
  std::string scales, history;
  double limit; ///< largest finite number of the fp8 type
  mlir::Value largest;
};

/// Erases the train.magnitudes ops of `entry` and returns their contents.
llvm::SmallVector<Magnitudes> takeMagnitudes(train::EntryOp entry);

/// Accumulates the maximum magnitudes of a step's micro-batches in states, and returns the accumulated
/// magnitudes.
llvm::SmallVector<Magnitudes> accumulateMagnitudes(train::EntryOp entry, StepSymbols &symbols);

/// Reads the accumulated magnitudes in another entry.
llvm::SmallVector<Magnitudes> readMagnitudes(StepBuilder &build, llvm::ArrayRef<Magnitudes> accumulated);

/// Returns the scalar maximum of all magnitudes. This maximum is finite unless an infinity or a NaN was
/// rounded to fp8.
mlir::Value largestOf(StepBuilder &build, const Magnitudes &magnitudes);

/// Builds the histories with this step's magnitudes, and the scales of the next step.
void advanceScales(StepBuilder &build, const Magnitudes &magnitudes);

} // namespace trainc
