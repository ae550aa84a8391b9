// Standardisation of rows: layer norm and RMSNorm without scale and bias.
#include "dialects/NN/Rows.h"
#include "dialects/NN/Syntax.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

static FailureOr<SmallVector<Type>> inferStandardized(Value x, double eps, InferError error) {
  auto type = cast<RankedTensorType>(x.getType());
  if (type.getRank() == 0 || !isa<FloatType>(type.getElementType()))
    return error() << "x must be a float tensor with a last dimension to standardise, found " << type;
  if (!(std::isfinite(inF32(eps)) && eps >= 0))
    return error() << "eps must be a number of 0 or more, found " << formatInF32(eps);
  return SmallVector<Type>{type, RankedTensorType::get(type.getShape().drop_back(), type.getElementType())};
}

/// All dimensions but the last can be partitioned.
static IndexingRule standardizedIndexing(Value x) {
  SmallVector<int> labels = rowLabels(x);
  SmallVector<int> leading(ArrayRef(labels).drop_back());
  return {{labels}, {labels, leading}};
}

/// Returns x / sqrt(mean(x^2) + eps) and the factor rstd = 1 / sqrt(mean(x^2) + eps) of each row.
static SmallVector<Value> divideByRootMeanSquare(TensorBuilder &b, Value x, double eps) {
  Value rstd = b.create<RsqrtOp>(b.add(rowMean(b, b.square(x)), eps));
  return {b.mul(x, overRow(b, rstd, x)), rstd};
}

/// Returns the cotangent of x, computed from the results y and r = rstd alone:
///   dx = r (g - m(g) - y m(g y)) - r^2 y dr / n
/// g and dr are the cotangents of y and r, and m(.) is the mean of a row of n elements. The term m(g) exists
/// only if the mean was subtracted (`centred`).
static Value standardizeGradient(TensorBuilder &b, Value y, Value rstd, ArrayRef<Value> cotangents,
                                 bool centred) {
  Value dx, g = cotangents[0], drstd = cotangents[1];
  if (g) {
    Value inner = b.sub(g, b.mul(y, overRow(b, rowMean(b, b.mul(g, y)), y)));
    if (centred)
      inner = b.sub(inner, overRow(b, rowMean(b, g), y));
    dx = b.mul(inner, overRow(b, rstd, y));
  }
  if (drstd) {
    Value factor = b.mul(b.mul(b.square(rstd), drstd), -1.0 / double(shapeOf(y).back()));
    Value term = b.mul(y, overRow(b, factor, y));
    dx = dx ? b.add(dx, term) : term;
  }
  return dx;
}

// --- nn.standardize ---

FailureOr<SmallVector<Type>> StandardizeOp::inferTypes(Adaptor adaptor, InferError error) {
  return inferStandardized(adaptor.getX(), adaptor.getEps().convertToDouble(), error);
}

IndexingRule StandardizeOp::getIndexingRule() { return standardizedIndexing(getX()); }

SmallVector<Value> StandardizeOp::decompose(OpBuilder &builder) {
  TensorBuilder b(builder, getLoc());
  Value centred = b.sub(getX(), overRow(b, rowMean(b, getX()), getX()));
  return divideByRootMeanSquare(b, centred, getEps().convertToDouble());
}

void StandardizeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultCotangents, ArrayRef<bool> needed,
                             MutableArrayRef<Value> operandCotangents) {
  TensorBuilder b(builder, getLoc());
  if (needed[0])
    operandCotangents[0] = standardizeGradient(b, getResult(), getRstd(), resultCotangents, true);
}

// --- nn.rms_standardize ---

FailureOr<SmallVector<Type>> RmsStandardizeOp::inferTypes(Adaptor adaptor, InferError error) {
  return inferStandardized(adaptor.getX(), adaptor.getEps().convertToDouble(), error);
}

IndexingRule RmsStandardizeOp::getIndexingRule() { return standardizedIndexing(getX()); }

SmallVector<Value> RmsStandardizeOp::decompose(OpBuilder &builder) {
  TensorBuilder b(builder, getLoc());
  return divideByRootMeanSquare(b, getX(), getEps().convertToDouble());
}

void RmsStandardizeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultCotangents, ArrayRef<bool> needed,
                                MutableArrayRef<Value> operandCotangents) {
  TensorBuilder b(builder, getLoc());
  if (needed[0])
    operandCotangents[0] = standardizeGradient(b, getResult(), getRstd(), resultCotangents, false);
}
