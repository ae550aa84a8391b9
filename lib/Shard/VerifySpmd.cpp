// The post-condition of the phase `spmd`.
#include "lib/Shard/Passes.h"

#include "dialects/Dist/Dist.h"
#include "dialects/Train/Train.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_VERIFYSPMD
#include "lib/Shard/Passes.h.inc"

namespace {

struct VerifySpmd : impl::VerifySpmdBase<VerifySpmd> {
  void runOnOperation() override {
    bool alone = llvm::all_of(getOperation().getOps<train::ProgramOp>(),
                              [](train::ProgramOp program) { return program.getRanks() == 1; });
    getOperation()->walk([&](Operation *op) {
      if (isa<train::SumOverRanksOp>(op)) {
        op->emitOpError(
            "is left in phase 'spmd', where sums over ranks are collectives (run --shard before)");
        signalPassFailure();
      } else if (alone && isa<dist::DistDialect>(op->getDialect())) {
        op->emitOpError("has no other rank to meet: the program is for one rank");
        signalPassFailure();
      }
    });
  }
};

} // namespace
} // namespace trainc
