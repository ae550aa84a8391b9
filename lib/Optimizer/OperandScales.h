// How the scales of what products read in fp8 follow from the largest magnitudes of the last steps.
#pragma once

#include "lib/Optimizer/StepBuilder.h"

namespace trainc {

/// What a train.magnitudes op says.
struct Magnitudes {
  std::string scales, history;
  double limit; ///< the largest number of the type
  mlir::Value largest;
};

/// Erases the train.magnitudes ops of `entry`, and returns what they say.
llvm::SmallVector<Magnitudes> takeMagnitudes(train::EntryOp entry);

/// Has `entry` keep the largest magnitudes of a step's micro-batches in states, and returns these magnitudes.
llvm::SmallVector<Magnitudes> accumulateMagnitudes(train::EntryOp entry, StepSymbols &symbols);

/// The same as another entry reads them.
llvm::SmallVector<Magnitudes> readMagnitudes(StepBuilder &build, llvm::ArrayRef<Magnitudes> accumulated);

/// The largest of them all, a scalar: it is finite if nothing that was rounded to fp8 was infinite or NaN.
mlir::Value largestOf(StepBuilder &build, const Magnitudes &magnitudes);

/// Builds the histories with this step's magnitudes, and the scales of the next step.
void advanceScales(StepBuilder &build, const Magnitudes &magnitudes);

} // namespace trainc
