// Cross-entropy and squared errors.
#include "dialects/NN/NN.h"
#include "lib/Reference/Registry.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::reference;

namespace {

double logSumExp(const double *x, int64_t count) {
  double largest = *std::max_element(x, x + count), sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += std::exp(x[i] - largest);
  return largest + std::log(sum);
}

/// Returns (1-s) w[label] (-log p[label]) + s/classes sum over classes of w[c] (-log p[c]), as
/// torch.nn.functional.cross_entropy.
double smoothedLoss(ArrayRef<double> logits, double lse, int64_t label, const Tensor *weights,
                    double smoothing) {
  auto share = [&](int64_t c) { return (weights ? weights->reals[c] : 1.0) * (lse - logits[c]); };
  double all = 0;
  for (size_t c = 0; c < logits.size(); ++c)
    all += share(c);
  return (1 - smoothing) * share(label) + smoothing / double(logits.size()) * all;
}

Tensors crossEntropy(nn::CrossEntropyOp op, Frame &frame) {
  const Tensor &logits = frame[op.getLogits()], &labels = frame[op.getLabels()];
  const Tensor *weights = op.getWeights() ? &frame[op.getWeights()] : nullptr;
  Tensor nll(op.getNll()), lse(op.getLse());
  int64_t classes = logits.dim(-1);
  for (int64_t row = 0; row < labels.elements(); ++row) {
    ArrayRef<double> in(logits.reals.data() + row * classes, classes);
    int64_t label = labels.integers[row];
    lse.reals[row] = frame.rounded(logSumExp(in.data(), classes));
    if (label != int64_t(op.getIgnore()) && label >= 0 && label < classes)
      nll.reals[row] = smoothedLoss(in, lse.reals[row], label, weights, op.getSmoothing().convertToDouble());
  }
  return {nll, lse};
}

Tensor squaredError(nn::MseOp op, Frame &frame) {
  const Tensor &x = frame[op.getX()], &y = frame[op.getY()];
  Tensor result(op.getResult());
  for (int64_t i = 0; i < x.elements(); ++i)
    result.reals[i] = (x.reals[i] - y.reals[i]) * (x.reals[i] - y.reals[i]);
  return result;
}

} // namespace

void trainc::reference::registerLoss(Registry &registry) {
  registry.add<nn::CrossEntropyOp>(crossEntropy);
  registry.add<nn::MseOp>(squaredError);
}
