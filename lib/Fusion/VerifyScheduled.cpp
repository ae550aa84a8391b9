// The post-condition of the phase `scheduled`.
#include "lib/Fusion/Passes.h"

#include "dialects/Train/Train.h"
#include "lib/Analysis/IterationSpace.h"
#include "lib/Fusion/ReadAnalysis.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace trainc {
#define GEN_PASS_DEF_VERIFYSCHEDULEDPASS
#include "lib/Fusion/Passes.h.inc"
} // namespace trainc

using namespace mlir;
using namespace trainc;

namespace {

struct VerifyScheduled : trainc::impl::VerifyScheduledPassBase<VerifyScheduled> {
  using trainc::impl::VerifyScheduledPassBase<VerifyScheduled>::VerifyScheduledPassBase;

  void runOnOperation() override {
    getOperation()->walk([&](train::EntryOp entry) {
      if (failed(verifyBlock(entry.getBody().front())))
        signalPassFailure();
    });
  }

private:
  static LogicalResult verifyBlock(Block &block) {
    LogicalResult result = success();
    for (Operation &op : block) {
      bool known = isa<train::GetOp, train::SetOp, train::InputOp, nn::YieldOp, ExecutableOpInterface>(op);
      if (!known && !ReadAnalysis::isZero(&op)) {
        op.emitOpError("is left in phase 'scheduled', but nothing executes it; expected kernels, products, "
                       "attention, and reads and writes of states (run --decompose and --fuse before)");
        result = failure();
      }
      if (auto kernel = dyn_cast<nn::KernelOp>(op); kernel && failed(IterationSpace::of(kernel)))
        result = failure();
      if (auto chunks = dyn_cast<nn::ChunksOp>(op); chunks && failed(verifyBlock(chunks.getBody().front())))
        result = failure();
    }
    return result;
  }
};

} // namespace
