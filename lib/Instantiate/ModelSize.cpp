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
  /// Number of times that an op uses a block.
  struct Use {
    nn::BlockOp block; ///< null if the op uses none
    uint64_t times = 1;
  };

  Use useOf(Operation &op);
  uint64_t count(Operation &op);
  uint64_t count(nn::BlockOp block);
  LogicalResult reportTooLarge(Operation &op, uint64_t before);

  SymbolTableCollection symbols;
  DenseMap<Operation *, uint64_t> counts; ///< ops per block; 0 while a block is being counted
  DenseSet<Operation *> entered; ///< blocks that exceed the maximum themselves and have been searched
  size_t depth = 0;
};

} // namespace

OpCounter::Use OpCounter::useOf(Operation &op) {
  if (auto apply = dyn_cast<nn::ApplyOp>(op))
    return {symbols.lookupNearestSymbolFrom<nn::BlockOp>(&op, apply.getBlockAttr())};
  if (auto repeat = dyn_cast<nn::RepeatOp>(op))
    return {symbols.lookupNearestSymbolFrom<nn::BlockOp>(&op, repeat.getBlockAttr()), repeat.getTimes()};
  return {};
}

uint64_t OpCounter::count(Operation &op) {
  Use use = useOf(op);
  return use.block ? llvm::SaturatingMultiplyAdd(use.times, count(use.block), uint64_t(1)) : 1;
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
      Use use = useOf(op);
      const bool tooLargeItself = use.block && count(use.block) > kMaxModelOps;
      // The expansion reports recursive blocks.
      if (tooLargeItself && !entered.insert(use.block).second)
        return success();
      return tooLargeItself ? check(use.block.getBody().front(), 0) : reportTooLarge(op, before);
    }
    before = after;
  }
  return success();
}

LogicalResult OpCounter::reportTooLarge(Operation &op, uint64_t before) {
  Use use = useOf(op);
  InFlightDiagnostic error = op.emitOpError("the model would have ");
  error << (use.block ? "at least " : "") << llvm::SaturatingAdd(before, count(op))
        << " ops up to here once its blocks are expanded, and may have " << kMaxModelOps << ": ";
  if (!use.block)
    return error << "leave some out, or use fewer and wider layers";
  return error << "block @" << use.block.getSymName() << " has " << count(use.block) << ", applied here "
               << use.times << (use.times == 1 ? " time; use" : " times; apply it fewer times, or use")
               << " fewer and wider layers";
}

LogicalResult trainc::checkModelSize(nn::ModelOp model) {
  return OpCounter().check(model.getBody().front(), 0);
}
