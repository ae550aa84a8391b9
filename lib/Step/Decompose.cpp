// Pass `decompose`: replaces composite ops by primitive ones.
#include "lib/Step/Passes.h"

#include "dialects/Interfaces/Interfaces.h"
#include "lib/Analysis/Preconditions.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

namespace trainc {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "lib/Step/Passes.h.inc"
} // namespace trainc

using namespace mlir;
using namespace trainc;

namespace {

struct Decompose : trainc::impl::DecomposePassBase<Decompose> {
  using trainc::impl::DecomposePassBase<Decompose>::DecomposePassBase;

  void runOnOperation() override {
    if (failed(requireConcrete(getOperation())))
      return signalPassFailure();
    SmallVector<Operation *> work = compositesIn(getOperation());
    while (!work.empty()) {
      Operation *op = work.pop_back_val();
      decompose(op, work);
    }
  }

private:
  static SmallVector<Operation *> compositesIn(Operation *root) {
    SmallVector<Operation *> composites;
    root->walk([&](DecomposableOpInterface op) { composites.push_back(op); });
    return composites;
  }

  /// Adds new ops that are composite themselves to `work`.
  static void decompose(Operation *op, SmallVectorImpl<Operation *> &work) {
    Operation *before = op->getPrevNode();
    Block *block = op->getBlock();
    OpBuilder builder(op);
    op->replaceAllUsesWith(cast<DecomposableOpInterface>(op).decompose(builder));
    Block::iterator begin = before ? std::next(before->getIterator()) : block->begin();
    for (Operation &made : llvm::make_range(begin, op->getIterator()))
      if (isa<DecomposableOpInterface>(made))
        work.push_back(&made);
    op->erase();
  }
};

} // namespace
