// Postcondition of the phase `spmd`.
#include "lib/Shard/Passes.h"

#include "dialects/Dist/Dist.h"
#include "dialects/Train/Settings.h"
#include "dialects/Train/Train.h"
#include "lib/Analysis/Overlap.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_VERIFYSPMD
#include "lib/Shard/Passes.h.inc"

namespace {

struct VerifySpmd : impl::VerifySpmdBase<VerifySpmd> {
  void runOnOperation() override {
    bool alone = llvm::all_of(getOperation().getOps<train::ProgramOp>(),
                              [](train::ProgramOp program) { return train::kRanks.of(program) == 1; });
    getOperation()->walk([&](Operation *op) {
      if (failed(verify(op, alone)))
        signalPassFailure();
    });
  }

private:
  static LogicalResult verify(Operation *op, bool alone) {
    if (isa<train::SumOverRanksOp, train::MaxOverRanksOp>(op))
      return op->emitOpError(
          "is left in phase 'spmd', where sums and maxima over ranks are collectives (run --shard before)");
    auto start = dyn_cast<CollectiveOpInterface>(op);
    if (!start)
      return success();
    if (alone)
      return op->emitOpError("has no other rank to meet: the program is for one rank");
    return requireInEntry(start);
  }
};

} // namespace
} // namespace trainc
