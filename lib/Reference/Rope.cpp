// Token positions and rotary position embedding.
#include "dialects/NN/NN.h"
#include "lib/Reference/Registry.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::reference;

namespace {

/// Rotates one head of width `d`: element i of its first half together with element i of its second half.
void rotateHead(const double *in, double *out, int64_t d, double position, double theta, bool inverse) {
  for (int64_t i = 0; i < d / 2; ++i) {
    double angle = position * std::pow(theta, -2.0 * double(i) / double(d)) * (inverse ? -1 : 1);
    double x1 = in[i], x2 = in[i + d / 2];
    out[i] = x1 * std::cos(angle) - x2 * std::sin(angle);
    out[i + d / 2] = x2 * std::cos(angle) + x1 * std::sin(angle);
  }
}

Tensor rope(nn::RopeOp op, Frame &frame) {
  const Tensor &x = frame[op.getX()], &positions = frame[op.getPositions()];
  Tensor result(op.getResult());
  int64_t heads = op.getHeads(), d = x.dim(-1) / heads, rows = x.elements() / x.dim(-1);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t head = 0; head < heads; ++head) {
      int64_t at = (row * heads + head) * d;
      // Positions [t] apply to every sequence of the batch.
      double position = double(positions.integers[row % positions.elements()]);
      rotateHead(&x.reals[at], &result.reals[at], d, position, op.getTheta().convertToDouble(),
                 op.getInverse());
    }
  return result;
}

Tensor positions(nn::PositionsOp op, Frame &frame) {
  Tensor result(op.getResult());
  int64_t from = op.getFrom() ? frame[op.getFrom()].integers[0] : 0;
  for (int64_t i = 0; i < result.elements(); ++i)
    result.integers[i] = from + i % result.dim(-1);
  return result;
}

} // namespace

void trainc::reference::registerPosition(Registry &registry) {
  registry.add<nn::RopeOp>(rope);
  registry.add<nn::PositionsOp>(positions);
}
