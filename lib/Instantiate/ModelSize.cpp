#include "lib/Instantiate/ModelSize.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace trainc;

namespace {

class OpCounter {
public:
  /// Reports the first op of the body with which the model exceeds the maximum, given the number of ops
  /// before the body.
  LogicalResult check(Block &body, uint64_t before);

private:
  /// A block, and how often an op applies it.
  struct Use {
    nn::BlockOp block;
    uint64_t times;
  };

  SmallVector<Use> usesOf(Operation &op);
  uint64_t count(Operation &op);
  uint64_t count(nn::BlockOp block);
  LogicalResult reportTooLarge(Operation &op, uint64_t before);

  SymbolTableCollection symbols;
  DenseMap<Operation *, uint64_t> counts; ///< ops per block; 0 while a block is being counted
  DenseSet<Operation *> entered; ///< blocks that exceed the maximum themselves and have been searched
  size_t depth = 0;
};

} // namespace

SmallVector<OpCounter::Use> OpCounter::usesOf(Operation &op) {
  SmallVector<Use> uses;
  auto user = dyn_cast<BlockUserOpInterface>(op);
  if (!user)
    return uses;
  const SmallVector<FlatSymbolRefAttr> names = user.getUsedBlocks();
  for (auto [index, name] : llvm::enumerate(names))
    uses.push_back({symbols.lookupNearestSymbolFrom<nn::BlockOp>(&op, name),
                    user.getUses() / names.size() + (index < user.getUses() % names.size() ? 1 : 0)});
  return uses;
}

uint64_t OpCounter::count(Operation &op) {
  uint64_t sum = 1;
  for (Use use : usesOf(op))
    sum = llvm::SaturatingMultiplyAdd(use.times, count(use.block), sum);
  return sum;
}

uint64_t OpCounter::count(nn::BlockOp block) {
  if (depth == kMaxNesting)
    return 0;
  auto [known, isNew] = counts.try_emplace(block, 0);
  if (!isNew)
    return known->second;
  uint64_t sum = 0;
  ++depth;
  for (Operation &op : llvm::drop_end(block.getBody().front()))
    sum = llvm::SaturatingAdd(sum, count(op));
  --depth;
  return counts[block] = sum;
}

LogicalResult OpCounter::check(Block &body, uint64_t before) {
  for (Operation &op : body) {
    const uint64_t after = llvm::SaturatingAdd(before, count(op));
    if (after > kMaxModelOps) {
      for (Use use : usesOf(op))
        if (count(use.block) > kMaxModelOps) // it is too large itself; the expansion reports recursive blocks
          return entered.insert(use.block).second ? check(use.block.getBody().front(), 0) : success();
      return reportTooLarge(op, before);
    }
    before = after;
  }
  return success();
}

LogicalResult OpCounter::reportTooLarge(Operation &op, uint64_t before) {
  const SmallVector<Use> uses = usesOf(op);
  InFlightDiagnostic error = op.emitOpError("the model would have ");
  error << (uses.empty() ? "" : "at least ") << llvm::SaturatingAdd(before, count(op))
        << " ops up to here once its blocks are expanded, and may have " << kMaxModelOps << ": ";
  if (uses.empty())
    return error << "leave some out, or use fewer and wider layers";
  bool isOnce = uses.size() == 1 && uses[0].times == 1;
  for (Use use : uses)
    error << "block @" << use.block.getSymName() << " has " << count(use.block) << ", applied here "
          << use.times << (use.times == 1 ? " time; " : " times; ");
  return error << (isOnce ? "use" : "apply it fewer times, or use") << " fewer and wider layers";
}

LogicalResult trainc::checkModelSize(nn::ModelOp model) {
  return OpCounter().check(model.getBody().front(), 0);
}
