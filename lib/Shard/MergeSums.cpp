// Pass `merge-sums`.
#include "lib/Shard/Passes.h"

#include "dialects/Dist/Dist.h"
#include "dialects/Train/Train.h"
#include "lib/Shard/Collectives.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_MERGESUMS
#include "lib/Shard/Passes.h.inc"

namespace {

/// The collective that makes `value` for nobody else, if it is a sum over ranks.
dist::AllReduceStartOp sumFor(Value value) {
  auto wait = value.getDefiningOp<dist::WaitOp>();
  return wait && wait->hasOneUse() ? wait.getPending().getDefiningOp<dist::AllReduceStartOp>() : nullptr;
}

void eraseSum(dist::AllReduceStartOp start) {
  (*start->getUsers().begin())->erase();
  start->erase();
}

struct MergeSums : impl::MergeSumsBase<MergeSums> {
  void runOnOperation() override {
    for (auto entry : getOperation().getOps<train::EntryOp>())
      for (auto add : llvm::make_early_inc_range(entry.getBody().getOps<nn::AddOp>()))
        merge(add);
  }

private:
  static void merge(nn::AddOp add) {
    dist::AllReduceStartOp left = sumFor(add.getLhs()), right = sumFor(add.getRhs());
    if (!left || !right || left == right)
      return;
    OpBuilder builder(add);
    Value partial = nn::AddOp::create(builder, add.getLoc(), left.getValue(), right.getValue());
    add.getResult().replaceAllUsesWith(createAllReduce(builder, add.getLoc(), partial));
    add->erase();
    eraseSum(left);
    eraseSum(right);
  }
};

} // namespace
} // namespace trainc
