// Postcondition of the phase `step`.
#include "lib/Step/Passes.h"

#include "dialects/Train/Train.h"

namespace trainc {
#define GEN_PASS_DEF_VERIFYSTEPPASS
#include "lib/Step/Passes.h.inc"
} // namespace trainc

using namespace mlir;
using namespace trainc;

/// Whether the op should have been replaced by an earlier pass of the phase.
static bool isOfEarlierPass(Operation *op) {
  return isa<nn::ModelOp, nn::BlockOp, train::MinimizeOp, train::GradientOp, train::MagnitudesOp,
             LayerOpInterface, DecomposableOpInterface>(op);
}

static bool isStatic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape();
}

namespace {

struct VerifyStep : trainc::impl::VerifyStepPassBase<VerifyStep> {
  using trainc::impl::VerifyStepPassBase<VerifyStep>::VerifyStepPassBase;

  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      if (isOfEarlierPass(op)) {
        op->emitOpError(
            "is left in phase 'step'; expected primitive tensor ops, and reads and writes of states "
            "(run --instantiate, --autodiff, --optimizer and --decompose before)");
        signalPassFailure();
      } else if (!llvm::all_of(op->getResultTypes(), isStatic)) {
        op->emitOpError("makes ") << op->getResultTypes()
                                  << " in phase 'step', where every value is a tensor of known sizes";
        signalPassFailure();
      }
    });
  }
};

} // namespace
