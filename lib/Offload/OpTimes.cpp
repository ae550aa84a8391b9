#include "lib/Offload/OpTimes.h"

#include "lib/Analysis/HostOps.h"

using namespace mlir;

namespace trainc {

FailureOr<OpTimes> OpTimes::of(Block &block, codegen::OpCosts &costs) {
  OpTimes times;
  double &now = times.end_;
  for (Operation &op : block) {
    FailureOr<double> takes = runsOnHost(&op) ? 0.0 : costs.seconds(op);
    if (failed(takes))
      return failure();
    times.begins_[&op] = now;
    times.ends_[&op] = now += *takes;
  }
  return times;
}

} // namespace trainc
