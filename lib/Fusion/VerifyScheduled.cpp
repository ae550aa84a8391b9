// Postcondition of the phase `scheduled`.
#include "lib/Fusion/Passes.h"

#include "dialects/Train/Train.h"
#include "lib/Analysis/Preconditions.h"

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
      if (failed(requireScheduled(entry.getBody().front())))
        signalPassFailure();
    });
  }
};

} // namespace
