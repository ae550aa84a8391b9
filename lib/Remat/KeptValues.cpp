#include "lib/Remat/KeptValues.h"

#include "lib/Analysis/StateOrder.h"
#include "lib/Support/StoredElement.h"

using namespace mlir;
using namespace trainc;

/// Ops of a recipe at most.
static constexpr size_t kMostOps = 16;
/// Bytes that a recipe reads at most, in those of the value that it makes.
static constexpr int64_t kMostReads = 4;
/// How much smaller than a value another one must be to be kept for its sake.
static constexpr int64_t kSmallShare = 8;

static int64_t bytesOf(Value value) { return tensorBytes(value.getType()); }

static bool isRecomputable(Operation *op) { return isa<RecomputableOpInterface>(op); }

bool KeptValues::isView(Operation *op) { return isRecomputable(op) && isView(op); }

static Value stripViews(Value value) {
  while (KeptValues::isView(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

KeptValues::KeptValues(train::EntryOp entry) {
  Block &block = entry.getBody().front();
  findForward(block);
  findAtHand(block);
  findReads(block);
  for (Operation &op : block)
    for (Value result : op.getResults())
      if (std::optional<Recipe> recipe = kept_.contains(result) ? findRecipe(result) : std::nullopt) {
        kept_.erase(result);
        recipes_.push_back(std::move(*recipe));
      }
}

void KeptValues::findForward(Block &block) {
  SmallVector<Operation *> found;
  auto visit = [&](Operation *op) {
    if (forward_.insert(op).second)
      found.push_back(op);
  };
  auto module = block.getParentOp()->getParentOfType<ModuleOp>();
  if (train::StateOp loss = train::findScalar(module, HostScalar::loss))
    for (train::SetOp set : StateOrder(block).writes(loss.getSymName()))
      visit(set);
  for (auto border : block.getOps<train::BorderOp>())
    forward_.insert(border); // nothing in the backward reads by it
  while (!found.empty()) {
    Operation *op = found.pop_back_val();
    for (Value operand : op->getOperands())
      visit(operand.getDefiningOp());
    if (auto get = dyn_cast<train::GetOp>(op))
      if (train::SetOp set = writeSeenBy(get))
        visit(set);
  }
}

void KeptValues::findAtHand(Block &block) {
  for (Operation &op : block) {
    const bool isStored = isa<train::GetOp, train::InputOp>(op);
    const bool isMade =
        (isRecomputable(&op) || isView(&op)) &&
        llvm::all_of(op.getOperands(), [&](Value operand) { return atHand_.contains(operand); });
    if (isStored || isMade)
      atHand_.insert(op.result_begin(), op.result_end());
  }
}

void KeptValues::findReads(Block &block) {
  for (Operation &op : block) {
    if (isForward(&op))
      continue;
    for (Value operand : op.getOperands())
      if (Value value = stripViews(operand); isForward(value.getDefiningOp()) && !atHand_.contains(value))
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
      if (atHand_.contains(operand))
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
