#include "lib/Remat/BlockUses.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace trainc {

std::optional<size_t> BlockUses::useOf(Operation *op) const {
  auto found = useOf_.find(op);
  return found == useOf_.end() ? std::nullopt : std::optional(found->second);
}

/// Whether the scope of `inner` is that of `outer` or nested in it.
static bool isNestedIn(train::BlockUseOp inner, train::BlockUseOp outer) {
  StringRef path = inner.getBlock().getScope();
  const StringRef scope = outer.getBlock().getScope();
  return scope.empty() || (path.consume_front(scope) && (path.empty() || path.front() == '.'));
}

/// Returns the last marker of `before` that is not nested in `marker`; null if there is none. The ops of the
/// use follow the returned marker, because a block's marker follows those of its nested blocks.
static train::BlockUseOp startOf(ArrayRef<train::BlockUseOp> before, train::BlockUseOp marker) {
  auto outside = llvm::find_if(llvm::reverse(before),
                               [&](train::BlockUseOp other) { return !isNestedIn(other, marker); });
  return outside == before.rend() ? train::BlockUseOp() : *outside;
}

static void sortByPlace(std::vector<Operation *> &ops) {
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
}

/// Returns the use that ends at `marker`. Its ops are on paths from the marker's inputs to its
/// outputs, and follow `start`. Only casts of the inputs may precede `start`.
static BlockUse slice(train::BlockUseOp start, train::BlockUseOp marker, const ForwardSide &forward) {
  const llvm::DenseSet<Value> inputs(marker.getInputs().begin(), marker.getInputs().end());
  llvm::DenseSet<Operation *> seen;
  BlockUse use;
  auto visit = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!inputs.contains(value) && forward.contains(op) && isMemoryEffectFree(op) &&
        (!start || start->isBeforeInBlock(op) || inputs.contains(stripViews(value))) &&
        seen.insert(op).second)
      use.ops.push_back(op);
  };
  llvm::for_each(marker.getOutputs(), visit);
  for (size_t i = 0; i < use.ops.size(); ++i) // the loop appends to `use.ops`
    llvm::for_each(use.ops[i]->getOperands(), visit);
  sortByPlace(use.ops);
  return use;
}

/// Returns the uses in the order of the forward.
static std::vector<BlockUse> findUses(Block &block, const ForwardSide &forward, ArrayRef<StringRef> blocks) {
  const auto markers = llvm::to_vector(block.getOps<train::BlockUseOp>());
  std::vector<BlockUse> uses;
  train::BlockUseOp start; // marker that precedes the use found last
  bool within = false;
  for (size_t i = markers.size(); i-- > 0;) {
    train::BlockUseOp marker = markers[i];
    within &= marker != start;
    if (within || !(blocks.empty() || llvm::is_contained(blocks, marker.getBlock().getName())))
      continue;
    start = startOf(ArrayRef(markers).take_front(i), marker);
    within = true;
    uses.push_back(slice(start, marker, forward));
  }
  std::reverse(uses.begin(), uses.end());
  return uses;
}

void BlockUses::findReadOutsideUse(Block &block, const ForwardSide &forward) {
  auto use = [&](Value value) { return useOf(value.getDefiningOp()); };
  for (Operation &op : block)
    if (forward.contains(&op) && !forward.isOutsideLoss(&op) && !isa<train::BlockUseOp>(op))
      for (Value operand : op.getOperands())
        if (use(operand) && use(operand) != useOf(&op))
          readOutsideUse_.insert(operand);
}

/// Adds roundings to the use of their operand, unless the operand leaves that use.
void BlockUses::addRoundings(Block &block, const ForwardSide &forward) {
  for (Operation &op : block) {
    if (!forward.isOutsideLoss(&op) || !isa<nn::ConvertOp>(op))
      continue;
    const Value operand = op.getOperand(0);
    if (std::optional<size_t> number = useOf(operand.getDefiningOp()); number && !isReadOutsideUse(operand)) {
      useOf_[&op] = *number;
      uses_[*number].ops.push_back(&op);
    }
  }
  for (BlockUse &use : uses_)
    sortByPlace(use.ops);
}

BlockUses::BlockUses(train::EntryOp entry, const ForwardSide &forward, ArrayRef<StringRef> blocks) {
  Block &block = entry.getBody().front();
  uses_ = findUses(block, forward, blocks);
  for (auto [number, use] : llvm::enumerate(uses_))
    for (Operation *op : use.ops)
      useOf_[op] = number;
  findReadOutsideUse(block, forward);
  addRoundings(block, forward);
}

int64_t countUses(ModuleOp module, ArrayRef<StringRef> blocks) {
  int64_t maximum = 0;
  for (auto entry : module.getOps<train::EntryOp>())
    maximum = std::max(maximum, int64_t(BlockUses(entry, ForwardSide(entry), blocks).uses().size()));
  return maximum;
}

} // namespace trainc
