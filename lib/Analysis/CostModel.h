// How long instructions take, by the roofline: the larger of work over peak and bytes over bandwidth.
#pragma once

#include "dialects/Plan/Plan.h"

#include "mlir/IR/BuiltinOps.h"

namespace trainc {

/// What a machine can do at most.
struct Machine {
  double flopsPerSecond;
  double bytesPerSecond;
  /// Cost of starting an instruction on all threads.
  double launchSeconds;

  /// The machine that compiles: its cores and vector width, with rates per core as measured in
  /// docs/measurements.
  static Machine thisOne();
};

/// Seconds that the entry's instructions take one after the other. Kernels are looked up in the entry's
/// module.
double predictSeconds(plan::EntryOp entry, const Machine &machine);

} // namespace trainc
