// Predicted times at which an entry's ops run.
#pragma once

#include "dialects/Plan/Plan.h"
#include "lib/Codegen/OpCost.h"
#include "lib/Plan/SchemaEnums.h"
#include "plan/facts/work.h"

namespace trainc {

/// Begin and end of each op of an entry, in seconds from the entry's start. Ops run in sequence and never
/// wait. Host ops take no device time.
class OpTimes {
public:
  /// Fails with an error at an op that the target cannot execute.
  static llvm::FailureOr<OpTimes> of(mlir::Block &block, codegen::OpCosts &costs);

  double begin(mlir::Operation *op) const { return begins_.lookup(op); }
  double end(mlir::Operation *op) const { return ends_.lookup(op); }
  double end() const { return end_; } ///< end of the last op

private:
  llvm::DenseMap<mlir::Operation *, double> begins_, ends_;
  double end_ = 0;
};

/// Returns the predicted seconds of a copy.
inline double copySeconds(plan::Space source, plan::Space destination, int64_t bytes,
                          const Machine &machine) {
  return costOf(workOfCopy(inSchema(source), inSchema(destination), double(bytes)), machine).seconds();
}

} // namespace trainc
