// Cuts losses over large vocabularies into a loop over rows.
#include "lib/Step/Passes.h"

#include "dialects/Train/Train.h"
#include "lib/Analysis/Concrete.h"
#include "lib/Analysis/StateOrder.h"
#include "lib/Step/ChunkBuilder.h"
#include "lib/Step/RowRegion.h"
#include "lib/Support/StoredElement.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace trainc {
#define GEN_PASS_DEF_CHUNKLOSSPASS
#include "lib/Step/Passes.h.inc"
} // namespace trainc

using namespace mlir;
using namespace trainc;

/// The largest number of equal chunks of at least `least` rows.
static int64_t chunkCount(int64_t rows, int64_t least) {
  for (int64_t size = std::max<int64_t>(least, 1); size <= rows; ++size)
    if (rows % size == 0)
      return rows / size;
  return 1;
}

namespace {

struct ChunkLoss : trainc::impl::ChunkLossPassBase<ChunkLoss> {
  using trainc::impl::ChunkLossPassBase<ChunkLoss>::ChunkLossPassBase;

  void runOnOperation() override {
    if (failed(requireConcrete(getOperation())))
      return signalPassFailure();
    SmallVector<Block *> blocks;
    getOperation()->walk([&](Operation *op) {
      if (isa<train::EntryOp, FunctionOpInterface>(op) && op->getNumRegions() == 1 &&
          !op->getRegion(0).empty())
        blocks.push_back(&op->getRegion(0).front());
    });
    for (Block *block : blocks)
      while (chunkOne(*block)) {
      }
  }

private:
  /// Cuts one loss of the block, if there is one that is large enough.
  bool chunkOne(Block &block) {
    for (Operation &op : block) {
      if (!isa<LossTermOpInterface>(op))
        continue;
      for (Value operand : op.getOperands())
        if (tensorBytes(operand.getType()) >= minBytes && chunk(operand))
          return true;
    }
    return false;
  }

  bool chunk(Value scores) {
    RankedTensorType type = cast<RankedTensorType>(scores.getType());
    int64_t count =
        type.getRank() < 2 ? 1 : chunkCount(type.getNumElements() / type.getShape().back(), minRows);
    if (count < 2)
      return false;
    RowRegion region(scores);
    if (!region.grow())
      return false;
    Block &block = *scores.getParentBlock();
    eraseBordersWithin(region);
    auto fixed = StateOrder(block).pairs();
    DenseSet<Operation *> members(region.ops().begin(), region.ops().end());
    nn::ChunksOp chunks = ChunkBuilder(region, count).build();
    if (!chunks)
      return false;
    sortAround(block, chunks, members, fixed);
    return true;
  }

  /// What a loop makes slice by slice is the border of no block any more.
  static void eraseBordersWithin(const RowRegion &region) {
    DenseSet<Operation *> borders;
    for (Operation *op : region.ops())
      for (Operation *user : op->getUsers())
        if (isa<train::BorderOp>(user))
          borders.insert(user);
    for (Operation *border : borders)
      border->erase();
  }

  /// The loop stands for the ops that it replaced in the order of side effects.
  static void sortAround(Block &block, nn::ChunksOp chunks, const DenseSet<Operation *> &replaced,
                         SmallVectorImpl<std::pair<Operation *, Operation *>> &fixed) {
    DenseSet<Operation *> present;
    for (Operation &op : block)
      present.insert(&op);
    for (auto &[before, after] : fixed)
      if (replaced.contains(before))
        before = chunks;
    llvm::erase_if(
        fixed, [&](auto &pair) { return !present.contains(pair.first) || !present.contains(pair.second); });
    sortBlock(block, fixed);
  }
};

} // namespace
