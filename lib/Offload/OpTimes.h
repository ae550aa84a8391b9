// When ops of an entry run, as the cost model has it.
#pragma once

#include "dialects/Plan/Plan.h"
#include "lib/Codegen/OpCost.h"

namespace trainc {

/// Seconds from the entry's start to each of its ops, one after the other and without any wait. Those of the
/// host take none of the device's time.
class OpTimes {
public:
  /// Fails, with an error at the op, if the target cannot execute one.
  static llvm::FailureOr<OpTimes> of(mlir::Block &block, codegen::OpCosts &costs);

  double begin(mlir::Operation *op) const { return begins_.lookup(op); }
  double end(mlir::Operation *op) const { return ends_.lookup(op); }
  double end() const { return end_; } ///< of all

private:
  llvm::DenseMap<mlir::Operation *, double> begins_, ends_;
  double end_ = 0;
};

/// Seconds of a copy.
inline double copySeconds(plan::Space source, plan::Space destination, int64_t bytes,
                          const Machine &machine) {
  return costOf(plan::workOfCopy(source, destination, double(bytes)), machine).seconds();
}

} // namespace trainc
