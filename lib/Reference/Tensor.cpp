#include "lib/Reference/Tensor.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

using namespace mlir;
using namespace trainc::reference;

Tensor::Tensor(RankedTensorType type) : type_(type) {
  assert(type.hasStaticShape() && "the interpreter runs on static shapes");
  if (isFloat())
    reals.resize(elements());
  else
    integers.resize(elements());
}

Tensor::Tensor(RankedTensorType type, DenseElementsAttr literal) : Tensor(type) {
  assert(literal.getType().getShape() == type.getShape() && "a literal of another shape");
  if (isa<FloatType>(literal.getElementType())) {
    for (auto [position, number] : llvm::enumerate(literal.getValues<APFloat>())) {
      bool inexact;
      APFloat wide = number;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
      setNumber(position, wide.convertToDouble());
    }
    roundShortNumbers();
    return;
  }
  bool isBool = literal.getElementType().isInteger(1);
  for (auto [position, bits] : llvm::enumerate(literal.getValues<APInt>())) {
    int64_t number = isBool ? int64_t(bits.getZExtValue()) : bits.getSExtValue();
    if (isFloat())
      reals[position] = double(number);
    else
      setInteger(position, number);
  }
}

static bool isFp8(Type element) { return isa<Float8E4M3FNType, Float8E5M2Type>(element); }

bool trainc::reference::isShort(Type element) {
  return element.isBF16() || element.isF16() || isFp8(element);
}

static double toDouble(APFloat value) {
  bool inexact;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToDouble();
}

double trainc::reference::roundTo(FloatType type, double number) {
  if (isFp8(type)) { // NaN compares as false and is kept
    const double largest = toDouble(APFloat::getLargest(type.getFloatSemantics()));
    number = number > largest ? largest : number < -largest ? -largest : number;
  }
  APFloat value(number);
  bool inexact;
  value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
  return toDouble(value);
}

double trainc::reference::roundTo(FloatType type, int64_t number) {
  APFloat value(type.getFloatSemantics());
  value.convertFromAPInt(APInt(64, uint64_t(number)), /*IsSigned=*/true, APFloat::rmNearestTiesToEven);
  return toDouble(value);
}

void Tensor::roundShortNumbers() {
  if (!isShort(type_.getElementType()))
    return;
  for (double &real : reals)
    real = roundTo(cast<FloatType>(type_.getElementType()), real);
}

void Tensor::setInteger(int64_t position, int64_t number) {
  unsigned width = type_.getElementType().getIntOrFloatBitWidth();
  if (width == 1)
    number &= 1;
  else if (width < 64)
    number = int64_t(uint64_t(number) << (64 - width)) >> (64 - width);
  integers[position] = number;
}

void Tensor::setNumber(int64_t position, double number) {
  if (isFloat())
    reals[position] = number;
  else
    setInteger(position, int64_t(number));
}

void Tensor::copyElement(int64_t position, const Tensor &from, int64_t fromPosition) {
  if (isFloat())
    reals[position] = from.reals[fromPosition];
  else
    integers[position] = from.integers[fromPosition];
}

Tensor Tensor::withType(RankedTensorType type) const {
  assert(type.getNumElements() == elements() && type.getElementType() == type_.getElementType());
  Tensor result = *this;
  result.type_ = type;
  return result;
}

SmallVector<int64_t> trainc::reference::stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t dim = int64_t(shape.size()) - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * shape[dim + 1];
  return strides;
}

void trainc::reference::forEachIndex(ArrayRef<int64_t> shape,
                                     llvm::function_ref<void(int64_t, ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> index(shape.size(), 0);
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  for (int64_t position = 0; position < elements; ++position) {
    visit(position, index);
    for (int64_t dim = int64_t(shape.size()) - 1; dim >= 0; --dim) {
      if (++index[dim] < shape[dim])
        break;
      index[dim] = 0;
    }
  }
}
