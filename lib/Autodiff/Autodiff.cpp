// Pass `autodiff`.
#include "lib/Analysis/Concrete.h"
#include "lib/Autodiff/Passes.h"
#include "lib/Autodiff/ReverseMode.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_AUTODIFF
#include "lib/Autodiff/Passes.h.inc"

namespace {

struct Autodiff : impl::AutodiffBase<Autodiff> {
  void runOnOperation() override {
    if (failed(requireConcrete(getOperation())))
      return signalPassFailure();
    for (auto entry : getOperation().getOps<train::EntryOp>())
      if (failed(differentiate(entry)))
        return signalPassFailure();
  }

  LogicalResult differentiate(train::EntryOp entry) {
    auto minimized = llvm::to_vector(entry.getBody().front().getOps<train::MinimizeOp>());
    if (minimized.size() > 1)
      return minimized[1]
                 .emitOpError("an entry minimises one loss; add the losses")
                 .attachNote(minimized[0].getLoc())
             << "the other one";
    return minimized.empty() ? success() : ReverseMode(entry, minimized.front()).run();
  }
};

} // namespace
} // namespace trainc
