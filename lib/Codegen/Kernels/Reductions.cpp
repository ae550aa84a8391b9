// Reductions, in the order of their trees (SumTree.h).
#include "lib/Codegen/Kernels/Reductions.h"
#include "dialects/NN/Builders.h"
#include "lib/Codegen/Kernels/SumTree.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

Type trainc::codegen::sumElement(nn::ReduceOp op) { return nn::wideElement(getElementTypeOrSelf(Value(op))); }

Value trainc::codegen::identityOf(Emitter &emit, nn::ReduceKind kind, Type type) {
  Type element = getElementTypeOrSelf(type);
  bool isSum = kind == nn::ReduceKind::sum || kind == nn::ReduceKind::mean,
       isMax = kind == nn::ReduceKind::max;
  if (isSum)
    return emit.constant(type, 0);
  if (isa<FloatType>(element)) {
    double infinity = std::numeric_limits<double>::infinity();
    return emit.constant(type, isMax ? -infinity : infinity);
  }
  unsigned width = element.getIntOrFloatBitWidth();
  APInt bound = isMax ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width);
  TypedAttr value = emit.builder.getIntegerAttr(element, bound);
  if (auto vector = dyn_cast<VectorType>(type))
    value = cast<TypedAttr>(DenseElementsAttr::get(vector, Attribute(value)));
  return arith::ConstantOp::create(emit.builder, emit.loc, value);
}

Value trainc::codegen::combine(Emitter &emit, nn::ReduceKind kind, Value a, Value b) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(a));
  switch (kind) {
  case nn::ReduceKind::sum:
  case nn::ReduceKind::mean:
    return emit.add(a, b);
  case nn::ReduceKind::max:
    return isFloat ? Value(arith::MaximumFOp::create(emit.builder, emit.loc, a, b)) : emit.max(a, b);
  case nn::ReduceKind::min:
    return isFloat ? Value(arith::MinimumFOp::create(emit.builder, emit.loc, a, b)) : emit.min(a, b);
  }
  llvm_unreachable("unknown kind of reduction");
}

Value trainc::codegen::combineLanes(Emitter &emit, nn::ReduceKind kind, Value vector) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  while (lanes > 1) {
    lanes /= 2;
    SmallVector<int64_t> low(lanes), high(lanes);
    std::iota(low.begin(), low.end(), 0);
    std::iota(high.begin(), high.end(), lanes);
    Value a = vector::ShuffleOp::create(emit.builder, emit.loc, vector, vector, low);
    Value b = vector::ShuffleOp::create(emit.builder, emit.loc, vector, vector, high);
    vector = combine(emit, kind, a, b);
  }
  return vector::ExtractOp::create(emit.builder, emit.loc, vector, int64_t(0));
}

LaneSum::LaneSum(KernelFunction &function, nn::ReduceOp op, int64_t treeLanes, int64_t vectorLanes)
    : op(op), emit(function.emit()), element(sumElement(op)), lanes(treeLanes), vectorLanes(vectorLanes) {
  assert(lanes % vectorLanes == 0 && "vectors are parts of the tree's lanes");
  if (lanes != vectorLanes)
    memory = function.stackArray(element, lanes);
}

Value LaneSum::identity(int64_t lanes) {
  return identityOf(emit, op.getKind(), Emitter::laneType(element, lanes));
}

void LaneSum::start() {
  if (memory)
    emit.store(identity(lanes), {memory, element, emit.i64(0)});
  else
    carried = identity(lanes);
}

/// Pieces begin at multiples of the lanes.
void LaneSum::add(Value elements, Value column, Mask mask) {
  if (const int64_t found = cast<VectorType>(elements.getType()).getNumElements(); found < vectorLanes)
    elements = vector::InsertOp::create(
        emit.builder, emit.loc,
        vector::ExtractOp::create(emit.builder, emit.loc, elements, int64_t(0)).getResult(),
        identity(vectorLanes), int64_t(0));
  Address at{memory, element, memory ? emit.remainder(column, lanes) : Value()};
  Value before = memory ? emit.load(at, vectorLanes) : carried;
  Value sum = combine(emit, op.getKind(), before, elements);
  if (mask)
    sum = arith::SelectOp::create(emit.builder, emit.loc, mask, sum, before);
  if (memory)
    emit.store(sum, at);
  else
    carried = sum;
}

Value LaneSum::total() {
  return combineLanes(emit, op.getKind(),
                      memory ? emit.load({memory, element, emit.i64(0)}, lanes) : carried);
}

Value trainc::codegen::reduceRow(Emitter &emit, nn::ReduceOp op, Value row, int64_t count) {
  Type element = sumElement(op);
  const nn::ReduceKind kind = op.getKind();
  const int64_t lanes = SumTree(element, count).lanes;
  Value identity = identityOf(emit, kind, Emitter::laneType(element, lanes));
  auto add = [&](Value sum, Value first, Mask mask) -> Value {
    Value added = combine(emit, kind, sum, emit.load({row, element, first}, lanes, mask));
    return mask ? arith::SelectOp::create(emit.builder, emit.loc, mask, added, sum).getResult() : added;
  };
  auto piece = [&](Value begin, ValueRange total) {
    Value end = emit.min(emit.add(begin, SumTree::kPiece), emit.i64(count));
    Value whole = emit.add(begin, emit.mul(emit.divide(emit.sub(end, begin), lanes), lanes));
    Value sum = emit.loop(begin, whole, lanes, identity, [&](Value first, ValueRange carried) {
      return SmallVector<Value>{add(carried[0], first, Mask())};
    })[0];
    if (count % lanes != 0)
      sum = add(sum, whole, emit.lanesBelow(emit.sub(end, whole), lanes));
    return SmallVector<Value>{combine(emit, kind, total[0], combineLanes(emit, kind, sum))};
  };
  Value none = identityOf(emit, kind, element);
  return scaleMean(emit, op, emit.loop(emit.i64(0), emit.i64(count), SumTree::kPiece, none, piece)[0]);
}

SmallVector<Value> trainc::codegen::reducePieces(ThreadReduction &threads, KernelFunction &function,
                                                 ArrayRef<nn::ReduceOp> ops, int64_t maximum, Value end,
                                                 llvm::function_ref<SmallVector<Value>(Value, Value)> piece) {
  Emitter &emit = function.emit();
  auto kinds = llvm::map_to_vector(ops, [](nn::ReduceOp op) { return op.getKind(); });
  if (maximum <= ThreadTree::kWhole)
    return threads.over(kinds, piece(emit.i64(0), end));
  auto none = llvm::map_to_vector(
      ops, [&](nn::ReduceOp op) { return identityOf(emit, op.getKind(), sumElement(op)); });
  auto add = [&](Value begin, ValueRange carried) {
    SmallVector<Value> totals =
        threads.over(kinds, piece(begin, emit.min(emit.add(begin, SumTree::kPiece), end)));
    Value owner = emit.remainder(emit.divide(begin, SumTree::kPiece), function.threads());
    Value isOwn =
        arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::eq, owner, function.thread());
    for (auto [total, kind, before] : llvm::zip_equal(totals, kinds, carried))
      total =
          arith::SelectOp::create(emit.builder, emit.loc, isOwn, combine(emit, kind, before, total), before);
    return totals;
  };
  return threads.over(kinds, emit.loop(emit.i64(0), end, SumTree::kPiece, none, add));
}

Value trainc::codegen::reduceRow(ThreadReduction &threads, KernelFunction &function, nn::ReduceOp op,
                                 Value row, int64_t count) {
  Emitter &emit = function.emit();
  const int64_t lanes = ThreadTree(count).lanes;
  auto piece = [&](Value begin, Value end) {
    LaneSum sum(function, op, lanes, lanes);
    sum.start();
    auto walk = [&](Value first, Value last, int64_t width) {
      sum.carried = emit.loop(first, last, width * function.threads(), sum.carried,
                              [&](Value column, ValueRange carried) {
                                sum.carried = carried[0];
                                sum.add(emit.load({row, sumElement(op), column}, width), column, Mask());
                                return SmallVector<Value>{sum.carried};
                              })[0];
    };
    Value whole = emit.mul(emit.divide(end, lanes), lanes);
    walk(emit.add(begin, emit.mul(function.thread(), lanes)), whole, lanes);
    if (count % lanes != 0)
      walk(emit.add(whole, function.thread()), end, 1);
    return SmallVector<Value>{sum.total()};
  };
  return scaleMean(emit, op, reducePieces(threads, function, op, count, emit.i64(count), piece)[0]);
}

Value trainc::codegen::scaleMean(Emitter &emit, nn::ReduceOp reduce, Value value) {
  if (reduce.getKind() != nn::ReduceKind::mean)
    return value;
  double count = double(elementCount(reduce.getX())) / double(elementCount(reduce.getResult()));
  return emit.mul(value, emit.constant(value.getType(), 1 / count));
}
