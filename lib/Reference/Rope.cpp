// Token positions and rotary position embedding.
#include "dialects/NN/NN.h"
#include "dialects/NN/RopeScaling.h"
#include "lib/Reference/Registry.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::reference;

namespace {

/// Returns the numbers of a head that pair `i` of `pairs` rotates together.
std::pair<int64_t, int64_t> pairOf(int64_t i, int64_t pairs, bool interleaved) {
  return interleaved ? std::pair(2 * i, 2 * i + 1) : std::pair(i, i + pairs);
}

/// The tables of scalings are those of the decomposition; test/unit/nn compares them with other software.
Tensor rope(nn::RopeOp op, Frame &frame) {
  const Tensor &x = frame[op.getX()], &positions = frame[op.getPositions()];
  Tensor result = x;
  const int64_t heads = op.getHeads(), d = x.dim(-1) / heads, rows = x.elements() / x.dim(-1);
  const int64_t rotary = op.getRotary().value_or(d);
  const double theta = op.getTheta().convertToDouble();
  const nn::RopeTable scaled =
      op.getScalingAttr() ? nn::ropeTable(theta, rotary, op.getScalingAttr()) : nn::RopeTable();
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t i = 0; i < rotary / 2; ++i) {
        const double frequency =
            op.getScalingAttr() ? scaled.frequencies[i] : std::pow(theta, -2.0 * double(i) / double(rotary));
        // Positions [t] apply to every sequence of the batch.
        const double angle =
            double(positions.integers[row % positions.elements()]) * frequency * (op.getInverse() ? -1 : 1);
        const auto [first, second] = pairOf(i, rotary / 2, op.getInterleaved());
        const int64_t at = (row * heads + head) * d;
        const double x1 = x.reals[at + first], x2 = x.reals[at + second];
        result.reals[at + first] = scaled.factor * (x1 * std::cos(angle) - x2 * std::sin(angle));
        result.reals[at + second] = scaled.factor * (x2 * std::cos(angle) + x1 * std::sin(angle));
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
