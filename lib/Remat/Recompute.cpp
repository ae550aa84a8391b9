// Pass `recompute`: the backward computes again what is cheap.
#include "dialects/Train/Train.h"
#include "lib/Remat/ForwardSide.h"
#include "lib/Remat/Passes.h"
#include "lib/Support/StoredElement.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace trainc;

// --- What is kept, and what is made again from it ---

namespace {

/// How a value is computed again.
struct Recipe {
  Value value;
  SmallVector<Operation *> ops; ///< each behind what it reads; the last makes the value
  llvm::SetVector<Value> kept;  ///< what they read of the forward's values
};

/// The choice for one entry; see the pass recompute.
class KeptValues {
public:
  explicit KeptValues(train::EntryOp entry);

  /// In the order of the forward.
  ArrayRef<Recipe> recipes() const { return recipes_; }

  /// Whether the loss is computed from what `op` makes.
  bool isForward(Operation *op) const { return forward_.contains(op); }

private:
  void findKept(Block &block);
  std::optional<Recipe> findRecipe(Value value) const;

  ForwardSide forward_;
  llvm::DenseSet<Value> kept_; ///< others that the backward reads and that are not computed again
  SmallVector<Recipe> recipes_;
};

} // namespace

/// Ops of a recipe at most.
static constexpr size_t kMostOps = 16;
/// Bytes that a recipe reads at most, in those of the value that it makes.
static constexpr int64_t kMostReads = 4;
/// How much smaller than a value another one must be to be kept for its sake.
static constexpr int64_t kSmallShare = 8;

static int64_t bytesOf(Value value) { return tensorBytes(value.getType()); }

static bool isRecomputable(Operation *op) { return isa<RecomputableOpInterface>(op); }

KeptValues::KeptValues(train::EntryOp entry) : forward_(entry) {
  Block &block = entry.getBody().front();
  findKept(block);
  for (Operation &op : block)
    for (Value result : op.getResults())
      if (std::optional<Recipe> recipe = kept_.contains(result) ? findRecipe(result) : std::nullopt) {
        kept_.erase(result);
        recipes_.push_back(std::move(*recipe));
      }
}

void KeptValues::findKept(Block &block) {
  for (Operation &op : block) {
    if (isForward(&op))
      continue;
    for (Value operand : op.getOperands())
      if (Value value = stripViews(operand); isForward(value.getDefiningOp()) && !forward_.isAtHand(value))
        kept_.insert(value);
  }
}

/// How `value` is made from what is kept; nothing where it cannot be, or where that would cost too much.
std::optional<Recipe> KeptValues::findRecipe(Value value) const {
  Recipe recipe{value, {}, {}};
  llvm::SetVector<Operation *> ops;
  ops.insert(value.getDefiningOp());
  for (size_t i = 0; i < ops.size(); ++i) { // grows meanwhile
    if (!isRecomputable(ops[i]) || ops.size() > kMostOps)
      return std::nullopt;
    for (Value operand : ops[i]->getOperands()) {
      if (forward_.isAtHand(operand))
        continue;
      if (kept_.contains(operand) || bytesOf(operand) * kSmallShare <= bytesOf(value))
        recipe.kept.insert(operand);
      else
        ops.insert(operand.getDefiningOp());
    }
  }
  int64_t reads = 0;
  for (Value kept : recipe.kept)
    reads += bytesOf(kept);
  if (reads > kMostReads * bytesOf(value))
    return std::nullopt;
  recipe.ops = ops.takeVector();
  llvm::sort(recipe.ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return recipe;
}

// --- The pass ---

namespace trainc {

#define GEN_PASS_DEF_RECOMPUTE
#include "lib/Remat/Passes.h.inc"

namespace {

/// Where the backward reads `value`, or views that the forward made of it.
void collectBackwardReads(Value value, const KeptValues &choice, SmallVectorImpl<OpOperand *> &reads) {
  for (OpOperand &use : value.getUses())
    if (!choice.isForward(use.getOwner()))
      reads.push_back(&use);
    else if (isRecomputableView(use.getOwner()))
      collectBackwardReads(use.getOwner()->getResult(0), choice, reads);
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
  collectBackwardReads(recipe.value, choice, reads);
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
