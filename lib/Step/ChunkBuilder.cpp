#include "lib/Step/ChunkBuilder.h"

#include "dialects/NN/Builders.h"
#include "lib/Support/Retype.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;

static constexpr int64_t kWhole = nn::ChunksOp::kWhole, kCarried = nn::ChunksOp::kCarried;

/// `type` with `rows` in place of its leading `rank` dimensions.
static RankedTensorType withRows(RankedTensorType type, size_t rank, ArrayRef<int64_t> rows) {
  SmallVector<int64_t> shape(rows);
  llvm::append_range(shape, type.getShape().drop_front(rank));
  return type.clone(shape);
}

/// Where rows are spread over several dimensions, a slice is one long run of them: [1, ..., 1, rows / count].
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

/// The type of all slices side by side along dimension 0.
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

/// Copies an op for slices; false if the types that it infers are not those of slices.
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

/// A sum that starts from zero; accumulate-in-place may have it start from something else.
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
