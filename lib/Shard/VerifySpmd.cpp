// Postcondition of the phase `spmd`.
#include "lib/Shard/Passes.h"

#include "dialects/Dist/Dist.h"
#include "dialects/Train/Train.h"
#include "lib/Analysis/Overlap.h"
#include "lib/Shard/Placements.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_VERIFYSPMD
#include "lib/Shard/Passes.h.inc"

namespace {

struct VerifySpmd : impl::VerifySpmdBase<VerifySpmd> {
  void runOnOperation() override {
    const Mesh mesh = dist::meshOf(getOperation());
    bool hasFailed = false;
    getOperation()->walk([&](Operation *op) { hasFailed |= failed(verify(op)); });
    for (const Axis &axis : mesh.axes())
      if (axis.size > 1 && !hasFailed) // along one rank, a shard is the whole
        hasFailed = failed(Placements(getOperation(), axis.name).derive());
    if (hasFailed)
      signalPassFailure();
  }

private:
  static LogicalResult verify(Operation *op) {
    if (isa<train::SumOverRanksOp, train::MaxOverRanksOp>(op))
      return op->emitOpError(
          "is left in phase 'spmd', where sums and maxima over ranks are collectives (run --shard before)");
    auto start = dyn_cast<CollectiveOpInterface>(op);
    return start ? requireInEntry(start) : success();
  }
};

} // namespace
} // namespace trainc
