#include "lib/Offload/OpTimes.h"

using namespace mlir;

namespace trainc {

FailureOr<OpTimes> OpTimes::of(Block &block, codegen::OpCosts &costs) {
  OpTimes times;
  double &now = times.end_;
  for (Operation &op : block) {
    FailureOr<double> takes = costs.seconds(op);
    if (failed(takes))
      return failure();
    times.begins_[&op] = now;
    times.ends_[&op] = now += *takes;
  }
  return times;
}

} // namespace trainc
