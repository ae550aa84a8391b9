// Combiners of reductions, in fixed order.
#include "lib/Codegen/RowsEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

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

Value trainc::codegen::scaleMean(Emitter &emit, nn::ReduceOp reduce, Value value) {
  if (reduce.getKind() != nn::ReduceKind::mean)
    return value;
  double count = double(elementCount(reduce.getX())) / double(elementCount(reduce.getResult()));
  return emit.mul(value, emit.constant(value.getType(), 1 / count));
}
