// nn.convert: conversion between element types.
#include "dialects/NN/Builders.h"
#include "dialects/NN/Elementwise.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Inferred = FailureOr<SmallVector<Type>>;

/// Rounds towards zero, saturates at the integer range, and maps NaN to 0; arith's conversion is undefined
/// out of range.
static Value convertToInteger(OpBuilder &builder, const LaneContext &lanes, Value x, Type to) {
  unsigned width = to.getIntOrFloatBitWidth();
  Type from = getElementTypeOrSelf(x);
  auto number = [&](double value) { return lanes.constant(builder, from, value); };
  auto select = [&](Value condition, Value a, Value b) -> Value {
    return arith::SelectOp::create(builder, lanes.loc, condition, a, b);
  };
  auto compare = [&](arith::CmpFPredicate predicate, Value bound) -> Value {
    return arith::CmpFOp::create(builder, lanes.loc, predicate, x, bound);
  };
  double beyond = std::ldexp(1, int(width) - 1);
  Value tooLarge = compare(arith::CmpFPredicate::OGE, number(beyond));
  Value tooSmall = compare(arith::CmpFPredicate::OLT, number(-beyond));
  Value inRange = compare(arith::CmpFPredicate::OLT, number(beyond)); // false for NaN
  Value safe = select(inRange, select(tooSmall, number(-beyond), x), number(0));
  Value converted = arith::FPToSIOp::create(builder, lanes.loc, lanes.type(to), safe);
  Value largest = lanes.constantInt(builder, to, APInt::getSignedMaxValue(width).getSExtValue());
  return select(tooLarge, largest, converted);
}

/// fp8 saturates: numbers beyond its largest one become that number. NaN compares as false and is kept.
static Value clampTo(OpBuilder &builder, const LaneContext &lanes, Value x, FloatType to) {
  const double largest = largestNumber(to);
  auto bound = [&](arith::CmpFPredicate beyond, double limit) {
    Value number = lanes.constant(builder, getElementTypeOrSelf(x), limit);
    Value isBeyond = arith::CmpFOp::create(builder, lanes.loc, beyond, x, number);
    x = arith::SelectOp::create(builder, lanes.loc, isBeyond, number, x);
  };
  bound(arith::CmpFPredicate::OGT, largest);
  bound(arith::CmpFPredicate::OLT, -largest);
  return x;
}

/// Converts between fp8 and bf16 or f16 through f32, which represents all of them. Targets need only casts
/// from and to f32.
static Value convertFp8(OpBuilder &builder, const LaneContext &lanes, Value x, FloatType to) {
  const Type f32 = builder.getF32Type();
  if (!getElementTypeOrSelf(x).isF32())
    x = arith::ExtFOp::create(builder, lanes.loc, lanes.type(f32), x);
  if (to.isF32())
    return x;
  if (isFp8(to))
    x = clampTo(builder, lanes, x, to);
  return arith::TruncFOp::create(builder, lanes.loc, lanes.type(to), x);
}

static Value convertFloat(OpBuilder &builder, const LaneContext &lanes, Value x, Type to) {
  Type result = lanes.type(to);
  if (!isa<FloatType>(to))
    return convertToInteger(builder, lanes, x, to);
  auto from = cast<FloatType>(getElementTypeOrSelf(x));
  if (isFp8(from) || isFp8(to))
    return convertFp8(builder, lanes, x, cast<FloatType>(to));
  if (from.getWidth() < cast<FloatType>(to).getWidth())
    return arith::ExtFOp::create(builder, lanes.loc, result, x);
  if (from.getWidth() > cast<FloatType>(to).getWidth())
    return arith::TruncFOp::create(builder, lanes.loc, result, x);
  // bf16 and f16 have no direct cast; f32 represents both.
  Value wide = arith::ExtFOp::create(builder, lanes.loc, lanes.type(builder.getF32Type()), x);
  return arith::TruncFOp::create(builder, lanes.loc, result, wide);
}

Value nn::convertInt(OpBuilder &builder, const LaneContext &lanes, Value x, Type to) {
  Type result = lanes.type(to);
  unsigned from = getElementTypeOrSelf(x).getIntOrFloatBitWidth();
  if (isa<FloatType>(to))
    return from == 1 ? Value(arith::UIToFPOp::create(builder, lanes.loc, result, x))
                     : Value(arith::SIToFPOp::create(builder, lanes.loc, result, x));
  if (from > to.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(builder, lanes.loc, result, x);
  return from == 1 ? Value(arith::ExtUIOp::create(builder, lanes.loc, result, x))
                   : Value(arith::ExtSIOp::create(builder, lanes.loc, result, x));
}

Inferred ConvertOp::inferTypes(Adaptor adaptor, InferError error) {
  Type to = adaptor.getTo();
  if (!to.isIntOrFloat() || to.isInteger(1))
    return error() << "converts to floating-point and integer types of more than one bit, found " << to;
  const Type from = tensorType(adaptor.getX()).getElementType();
  auto fitsFp8 = [](Type other) { return other.isF32() || isLowPrecision(other); };
  if (from != to && ((isFp8(from) && !fitsFp8(to)) || (isFp8(to) && !fitsFp8(from))))
    return error() << "fp8 is converted from and to f32, bf16 and f16 alone, found " << from << " to " << to;
  return SmallVector<Type>{tensorType(adaptor.getX()).clone(to)};
}

bool ConvertOp::isWidening() {
  return !isa<DeferredType>(getX().getType()) && isLowPrecision(tensorType(getX()).getElementType()) &&
         (getTo().isF32() || getTo().isF64());
}

bool ConvertOp::isReadThrough() { return isWidening(); }

std::optional<EpilogueStep> ConvertOp::getEpilogueStep(unsigned) {
  const bool isOfFloats = isa<FloatType>(tensorType(getX()).getElementType()) && isa<FloatType>(getTo());
  return isOfFloats ? std::optional(EpilogueStep{EpilogueKind::Convert}) : std::nullopt;
}

Value ConvertOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  Value x = operands[0];
  Type from = getElementTypeOrSelf(x);
  if (from == getTo())
    return x;
  return isa<FloatType>(from) ? convertFloat(builder, lanes, x, getTo())
                              : convertInt(builder, lanes, x, getTo());
}

OpFoldResult ConvertOp::fold(FoldAdaptor adaptor) {
  if (isa<DeferredType>(getType()))
    return {};
  if (getX().getType() == getType())
    return getX();
  auto element = dyn_cast<FloatType>(getTo());
  // The wider type represents the same numbers. Saturated integer bounds are exact in the wider type only.
  if (auto inner = getX().getDefiningOp<ConvertOp>(); inner && element && inner.isWidening()) {
    if (inner.getX().getType() == getType())
      return inner.getX();
    getXMutable().assign(inner.getX());
    return getResult();
  }
  std::optional<double> number = splatNumber(adaptor.getX());
  if (!number || !element)
    return {};
  if (isFp8(element))
    *number = std::clamp(*number, -largestNumber(element), largestNumber(element));
  return DenseElementsAttr::get(tensorType(getResult()), Attribute(FloatAttr::get(element, *number)));
}

void ConvertOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, MutableArrayRef<Value> out) {
  out[0] = TensorBuilder(builder, getLoc()).convert(g[0], tensorType(getX()).getElementType());
}
