// Pass `chunk-loss`: computes a loss on one slice of rows after another.
#include "dialects/NN/Builders.h"
#include "dialects/Train/Train.h"
#include "lib/Analysis/Preconditions.h"
#include "lib/Analysis/StateOrder.h"
#include "lib/Step/Passes.h"
#include "lib/Step/RowRegion.h"
#include "lib/Support/Retype.h"
#include "lib/Support/StoredElement.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;

// --- The loop ---

namespace {

/// Builds an nn.chunks that runs a region on `count` equal slices of rows. Inputs that carry rows are split;
/// others are passed whole. Results that carry rows are concatenated; sums over rows are carried from slice
/// to slice, starting from zero.
class ChunkBuilder {
public:
  ChunkBuilder(const RowRegion &region, int64_t count) : region(region), count(count) {}

  /// Builds the loop at the end of the region, replaces the region's ops by it and erases them. Returns null
  /// and changes nothing if an op does not accept the slices' shapes.
  nn::ChunksOp build();

private:
  struct Result {
    Value original; ///< value that the loop's result replaces
    Value yielded;
    int64_t dim;
  };

  RankedTensorType sliceType(Value value) const;
  RankedTensorType joinedType(Value value) const;
  void addInput(Value value);
  Value addArgument(Value operand, Type type, int64_t dim);
  bool copyOp(Operation *op);
  void yieldResult(Value value);
  void yieldSum(Value value);
  void replace(nn::ChunksOp chunks);

  const RowRegion &region;
  int64_t count;
  OpBuilder outside{static_cast<MLIRContext *>(nullptr)}, inside{static_cast<MLIRContext *>(nullptr)};
  Block *body = nullptr;
  IRMapping mapping;
  SmallVector<Value> operands;
  SmallVector<int64_t> inputDims;
  SmallVector<Result> results;
};

} // namespace

static constexpr int64_t kWhole = nn::ChunksOp::kWhole, kCarried = nn::ChunksOp::kCarried;

/// Replaces the leading `rank` dimensions of `type` by `rows`.
static RankedTensorType withRows(RankedTensorType type, size_t rank, ArrayRef<int64_t> rows) {
  SmallVector<int64_t> shape(rows);
  llvm::append_range(shape, type.getShape().drop_front(rank));
  return type.clone(shape);
}

/// If rows form several dimensions, a slice is one contiguous run of rows: [1, ..., 1, rows / count].
static SmallVector<int64_t> rowShape(int64_t first, size_t rank, int64_t last) {
  SmallVector<int64_t> shape(rank, 1);
  shape.front() = first;
  shape.back() = rank == 1 ? first * last : last;
  return shape;
}

RankedTensorType ChunkBuilder::sliceType(Value value) const {
  if (!region.carriesRows(value))
    return nn::tensorType(value);
  return withRows(nn::tensorType(value), region.rowRank(),
                  rowShape(1, region.rowRank(), region.rows() / count));
}

/// Returns the type of all slices concatenated along dimension 0.
RankedTensorType ChunkBuilder::joinedType(Value value) const {
  return withRows(nn::tensorType(value), region.rowRank(),
                  rowShape(count, region.rowRank(), region.rows() / count));
}

static Value reshapeTo(OpBuilder &builder, Value value, RankedTensorType type) {
  if (value.getType() == type)
    return value;
  return nn::ReshapeOp::create(builder, value.getLoc(), type, value, type.getShape());
}

Value ChunkBuilder::addArgument(Value operand, Type type, int64_t dim) {
  operands.push_back(operand);
  inputDims.push_back(dim);
  return body->addArgument(type, operand.getLoc());
}

void ChunkBuilder::addInput(Value value) {
  if (mapping.contains(value))
    return;
  bool split = region.carriesRows(value);
  Value operand = split ? reshapeTo(outside, value, joinedType(value)) : value;
  mapping.map(value, addArgument(operand, sliceType(value), split ? 0 : kWhole));
}

/// Copies an op for slices. Returns false if the inferred types are not those of slices.
bool ChunkBuilder::copyOp(Operation *op) {
  for (Value operand : op->getOperands())
    if (!region.contains(operand.getDefiningOp()))
      addInput(operand);
  Operation *copy = inside.clone(*op, mapping);
  for (auto [original, result] : llvm::zip(op->getResults(), copy->getResults())) {
    retype(copy, nn::tensorType(original), sliceType(original));
    result.setType(sliceType(original));
  }
  auto inference = dyn_cast<InferTypeOpInterface>(copy);
  SmallVector<Type> inferred;
  ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
  return inference &&
         succeeded(inference.inferReturnTypes(op->getContext(), std::nullopt, copy->getOperands(),
                                              copy->getAttrDictionary(), copy->getPropertiesStorage(),
                                              copy->getRegions(), inferred)) &&
         ArrayRef<Type>(inferred) == ArrayRef<Type>(SmallVector<Type>(copy->getResultTypes()));
}

void ChunkBuilder::yieldResult(Value value) {
  if (llvm::all_of(value.getUsers(), [&](Operation *user) { return region.contains(user); }))
    return;
  if (region.isPartialSum(value))
    yieldSum(value);
  else
    results.push_back({value, mapping.lookup(value), 0});
}

/// Carries a sum that starts from zero; accumulate-in-place may choose another start.
void ChunkBuilder::yieldSum(Value value) {
  Value zero = nn::ConstantOp::create(outside, value.getLoc(), value.getType(), outside.getF64FloatAttr(0),
                                      TypeAttr::get(value.getType()));
  Value carried = addArgument(zero, value.getType(), kCarried);
  Value sum = nn::AddOp::create(inside, value.getLoc(), value.getType(), carried, mapping.lookup(value));
  results.push_back({value, sum, kCarried});
}

void ChunkBuilder::replace(nn::ChunksOp chunks) {
  outside.setInsertionPointAfter(chunks);
  for (auto [result, output] : llvm::zip(results, chunks.getResults())) {
    Value whole = reshapeTo(outside, output, nn::tensorType(result.original));
    result.original.replaceUsesWithIf(whole,
                                      [&](OpOperand &use) { return !region.contains(use.getOwner()); });
  }
  for (Operation *op : llvm::reverse(region.ops()))
    op->erase();
}

nn::ChunksOp ChunkBuilder::build() {
  Operation *last = region.ops().back();
  outside = OpBuilder(last);
  outside.setInsertionPointAfter(last);
  Operation *mark = last->getNextNode();
  auto owned = std::make_unique<Block>();
  body = owned.get();
  inside = OpBuilder(last->getContext());
  inside.setInsertionPointToEnd(body);
  for (Operation *op : region.ops())
    if (!copyOp(op)) {
      while (last->getNextNode() != mark) // reshaped inputs
        last->getNextNode()->erase();
      return {};
    }
  for (Operation *op : region.ops())
    llvm::for_each(op->getResults(), [&](Value result) { yieldResult(result); });
  SmallVector<Value> yielded;
  SmallVector<Type> types;
  SmallVector<int64_t> dims;
  SmallVector<Location> locations;
  for (Operation *op : region.ops())
    locations.push_back(op->getLoc());
  for (const Result &result : results) {
    yielded.push_back(result.yielded);
    dims.push_back(result.dim);
    types.push_back(result.dim == kCarried ? result.original.getType() : joinedType(result.original));
  }
  Location loc = FusedLoc::get(last->getContext(), locations);
  nn::YieldOp::create(inside, loc, yielded);
  auto chunks = nn::ChunksOp::create(outside, loc, types, operands, count, inputDims, dims);
  chunks.getBody().push_back(owned.release());
  replace(chunks);
  return chunks;
}

// --- The pass ---

namespace trainc {
#define GEN_PASS_DEF_CHUNKLOSSPASS
#include "lib/Step/Passes.h.inc"
} // namespace trainc

/// Returns the maximum number of equal chunks with at least `minimum` rows.
static int64_t chunkCount(int64_t rows, int64_t minimum) {
  for (int64_t size = std::max<int64_t>(minimum, 1); size <= rows; ++size)
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
  /// Splits one loss of the block, if one is large enough.
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
    eraseBlockUsesWithin(region);
    auto fixed = fixedPairs(block);
    DenseSet<Operation *> members(region.ops().begin(), region.ops().end());
    nn::ChunksOp chunks = ChunkBuilder(region, count).build();
    if (!chunks)
      return false;
    sortAround(block, chunks, members, fixed);
    return true;
  }

  /// Values that a loop produces slice by slice are no block boundaries any more.
  static void eraseBlockUsesWithin(const RowRegion &region) {
    DenseSet<Operation *> markers;
    for (Operation *op : region.ops())
      for (Operation *user : op->getUsers())
        if (isa<train::BlockUseOp>(user))
          markers.insert(user);
    for (Operation *marker : markers)
      marker->erase();
  }

  /// In the order of side effects the loop takes the place of the ops that it replaced.
  static void sortAround(Block &block, nn::ChunksOp chunks, const DenseSet<Operation *> &replaced,
                         SmallVectorImpl<OpPair> &fixed) {
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
