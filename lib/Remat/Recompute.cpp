// Pass `recompute`: recomputes cheap values in the backward.
#include "dialects/Train/Train.h"
#include "lib/Remat/ForwardSide.h"
#include "lib/Remat/Passes.h"
#include "lib/Support/StoredElement.h"
#include "lib/Support/UseOrder.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace trainc;

// --- Kept values, and their recomputation ---

namespace {

/// Recomputation of one value.
struct Recipe {
  Value value;
  SmallVector<Operation *> ops; ///< in program order; the last op computes the value
  llvm::SetVector<Value> kept;  ///< forward values that the ops read
};

/// Choice of kept values for one entry; see the pass `recompute`.
class KeptValues {
public:
  explicit KeptValues(train::EntryOp entry);

  /// Returns the recipes in the order of the forward.
  ArrayRef<Recipe> recipes() const { return recipes_; }

  /// Whether `op` is a forward op.
  bool isForward(Operation *op) const { return forward_.contains(op); }

private:
  void findKept(Block &block);
  std::optional<Recipe> findRecipe(Value value) const;

  ForwardSide forward_;
  llvm::DenseSet<Value> kept_; ///< values that the backward reads and that are not recomputed
  SmallVector<Recipe> recipes_;
};

} // namespace

/// Maximum number of ops of a recipe.
static constexpr size_t kMaxRecipeOps = 16;
/// Maximum bytes that a recipe reads, as a multiple of the value's bytes.
static constexpr int64_t kMaxReadRatio = 4;
/// Minimum ratio of a value's bytes to those of an operand that is kept in order to recompute the value.
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
      if (Value value = stripViews(operand);
          isForward(value.getDefiningOp()) && !forward_.needsNoSaving(value))
        kept_.insert(value);
  }
}

/// Returns the recipe that computes `value` from kept values; none if there is no recipe within the limits.
std::optional<Recipe> KeptValues::findRecipe(Value value) const {
  Recipe recipe{value, {}, {}};
  llvm::SetVector<Operation *> ops;
  ops.insert(value.getDefiningOp());
  for (size_t i = 0; i < ops.size(); ++i) { // the loop appends to `ops`
    if (!isRecomputable(ops[i]) || ops.size() > kMaxRecipeOps)
      return std::nullopt;
    for (Value operand : ops[i]->getOperands()) {
      if (forward_.needsNoSaving(operand))
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
  if (reads > kMaxReadRatio * bytesOf(value))
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

/// Collects the uses of `value`, and of forward views of it, in the backward.
void collectBackwardReads(Value value, const KeptValues &choice, SmallVectorImpl<OpOperand *> &reads) {
  for (OpOperand *use : usesFromLast(value))
    if (!choice.isForward(use->getOwner()))
      reads.push_back(use);
    else if (isRecomputableView(use->getOwner()))
      collectBackwardReads(use->getOwner()->getResult(0), choice, reads);
}

/// Returns the recomputed value or view that replaces `value`.
Value recomputedOf(Value value, IRMapping &mapping, OpBuilder &builder) {
  if (Value made = mapping.lookupOrNull(value))
    return made;
  Operation *view = value.getDefiningOp();
  recomputedOf(view->getOperand(0), mapping, builder);
  return builder.clone(*view, mapping)->getResult(0);
}

/// Inserts the recomputation before the first use of the value in the backward.
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
    read->set(recomputedOf(read->get(), mapping, builder));
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
