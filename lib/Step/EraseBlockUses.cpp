// Pass `erase-block-uses`.
#include "lib/Step/Passes.h"

#include "dialects/Train/Train.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace trainc {
#define GEN_PASS_DEF_ERASEBLOCKUSES
#include "lib/Step/Passes.h.inc"
} // namespace trainc

using namespace mlir;
using namespace trainc;

namespace {

struct EraseBlockUses : trainc::impl::EraseBlockUsesBase<EraseBlockUses> {
  void runOnOperation() override {
    getOperation()->walk([](train::EntryOp entry) {
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry.getBody().front())))
        if (isa<train::BlockUseOp>(op) || isOpTriviallyDead(&op))
          op.erase();
    });
  }
};

} // namespace
