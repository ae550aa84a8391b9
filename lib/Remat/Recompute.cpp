// Pass `recompute`.
#include "lib/Remat/Passes.h"

#include "lib/Remat/KeptValues.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_RECOMPUTE
#include "lib/Remat/Passes.h.inc"

namespace {

/// Where the backward reads `value`, or views that the forward made of it.
void findReads(Value value, const KeptValues &choice, SmallVectorImpl<OpOperand *> &reads) {
  for (OpOperand &use : value.getUses())
    if (!choice.isForward(use.getOwner()))
      reads.push_back(&use);
    else if (KeptValues::isView(use.getOwner()))
      findReads(use.getOwner()->getResult(0), choice, reads);
}

/// What stands for `value`, which is what a recipe makes or a view of it.
Value again(Value value, IRMapping &mapping, OpBuilder &builder) {
  if (Value made = mapping.lookupOrNull(value))
    return made;
  Operation *view = value.getDefiningOp();
  again(view->getOperand(0), mapping, builder);
  return builder.clone(*view, mapping)->getResult(0);
}

/// Makes the recipe's value again before its first use in the backward.
void recompute(const Recipe &recipe, const KeptValues &choice) {
  SmallVector<OpOperand *> reads;
  findReads(recipe.value, choice, reads);
  Operation *first = reads.front()->getOwner();
  for (OpOperand *read : reads)
    if (read->getOwner()->isBeforeInBlock(first))
      first = read->getOwner();
  OpBuilder builder(first);
  IRMapping mapping;
  for (Value kept : recipe.kept)
    mapping.map(kept, nn::BarrierOp::create(builder, kept.getLoc(), kept).getResult());
  for (Operation *op : recipe.ops)
    builder.clone(*op, mapping);
  for (OpOperand *read : reads)
    read->set(again(read->get(), mapping, builder));
}

struct Recompute : impl::RecomputeBase<Recompute> {
  void runOnOperation() override {
    for (auto entry : getOperation().getOps<train::EntryOp>()) {
      const KeptValues choice(entry);
      for (const Recipe &recipe : choice.recipes())
        recompute(recipe, choice);
    }
  }
};

} // namespace
} // namespace trainc
