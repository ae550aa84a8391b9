// Ops that normalise along the last dimension.
#include "dialects/NN/NN.h"
#include "lib/Reference/Registry.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::reference;

namespace {

/// Number of rows along the last dimension.
int64_t rowsOf(const Tensor &x) { return x.elements() / x.dim(-1); }

/// Returns (x - shift) * rstd, where rstd = 1/sqrt(mean((x - shift)^2) + eps) and shift is the mean if
/// `centred`, else 0.
Tensors normalise(const Tensor &x, Value result, Value rstd, double eps, bool centred) {
  Tensor normalised(result), factors(rstd);
  int64_t width = x.dim(-1);
  for (int64_t row = 0; row < rowsOf(x); ++row) {
    const double *in = x.reals.data() + row * width;
    double shift = 0, squares = 0;
    for (int64_t i = 0; centred && i < width; ++i)
      shift += in[i] / double(width);
    for (int64_t i = 0; i < width; ++i)
      squares += (in[i] - shift) * (in[i] - shift);
    double factor = 1 / std::sqrt(squares / double(width) + eps);
    factors.reals[row] = factor;
    for (int64_t i = 0; i < width; ++i)
      normalised.reals[row * width + i] = (in[i] - shift) * factor;
  }
  return {normalised, factors};
}

Tensors standardize(nn::StandardizeOp op, Frame &frame) {
  return normalise(frame[op.getX()], op.getResult(), op.getRstd(), op.getEps().convertToDouble(), true);
}

Tensors rmsStandardize(nn::RmsStandardizeOp op, Frame &frame) {
  return normalise(frame[op.getX()], op.getResult(), op.getRstd(), op.getEps().convertToDouble(), false);
}

Tensor softmax(nn::SoftmaxOp op, Frame &frame) {
  const Tensor &x = frame[op.getX()];
  Tensor result(op.getResult());
  int64_t width = x.dim(-1);
  for (int64_t row = 0; row < rowsOf(x); ++row) {
    const double *in = x.reals.data() + row * width;
    double *out = result.reals.data() + row * width;
    double largest = *std::max_element(in, in + width), sum = 0;
    for (int64_t i = 0; i < width; ++i)
      sum += out[i] = std::exp(in[i] - largest);
    for (int64_t i = 0; i < width; ++i)
      out[i] /= sum;
  }
  return result;
}

} // namespace

void trainc::reference::registerNorm(Registry &registry) {
  registry.add<nn::StandardizeOp>(standardize);
  registry.add<nn::RmsStandardizeOp>(rmsStandardize);
  registry.add<nn::SoftmaxOp>(softmax);
}
