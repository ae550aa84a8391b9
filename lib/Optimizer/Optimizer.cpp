// Pass `optimizer`.
#include "lib/Optimizer/Passes.h"
#include "lib/Optimizer/StepUpdate.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_OPTIMIZER
#include "lib/Optimizer/Passes.h.inc"

namespace {

struct Optimizer : impl::OptimizerBase<Optimizer> {
  void runOnOperation() override {
    auto programs = llvm::to_vector(getOperation().getOps<train::ProgramOp>());
    if (programs.size() != 1) {
      getOperation().emitError("optimizer: expected one train.program in the module, found ")
          << programs.size();
      return signalPassFailure();
    }
    if (failed(StepUpdate(getOperation(), programs.front()).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace trainc
