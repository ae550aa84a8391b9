// Pass `erase-borders`.
#include "lib/Step/Passes.h"

#include "dialects/Train/Train.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace trainc {
#define GEN_PASS_DEF_ERASEBORDERS
#include "lib/Step/Passes.h.inc"
} // namespace trainc

using namespace mlir;
using namespace trainc;

namespace {

struct EraseBorders : trainc::impl::EraseBordersBase<EraseBorders> {
  void runOnOperation() override {
    getOperation()->walk([](train::EntryOp entry) {
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry.getBody().front())))
        if (isa<train::BorderOp>(op) || isOpTriviallyDead(&op))
          op.erase();
    });
  }
};

} // namespace
