// Attention and its gradient, with the complete matrix of probabilities.
#include "dialects/NN/NN.h"
#include "lib/Reference/Random.h"
#include "lib/Reference/Registry.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace trainc;
using namespace trainc::reference;

namespace {

/// Operands of one attention, and the layout of their heads.
struct Problem {
  const Tensor &q, &k, &v;
  const Tensor *segments, *limit, *sinks, *dropoutKey, *bias;
  int64_t heads, keyHeads;
  bool causal;
  std::optional<int64_t> window;
  std::optional<double> softcap, alibi, dropout;
  double scale;

  int64_t batch() const { return q.dim(0); }
  int64_t queries() const { return q.dim(1); }
  int64_t keys() const { return k.dim(1); }
  int64_t width() const { return q.dim(2) / heads; }
  int64_t valueWidth() const { return v.dim(2) / keyHeads; }
  int64_t keyHead(int64_t head) const { return head * keyHeads / heads; }

  int64_t queryAt(int64_t b, int64_t i, int64_t head) const {
    return ((b * queries() + i) * heads + head) * width();
  }
  int64_t keyAt(int64_t b, int64_t j, int64_t head) const {
    return ((b * keys() + j) * keyHeads + keyHead(head)) * width();
  }
  int64_t valueAt(int64_t b, int64_t j, int64_t head) const {
    return ((b * keys() + j) * keyHeads + keyHead(head)) * valueWidth();
  }
  int64_t outAt(int64_t b, int64_t i, int64_t head) const {
    return ((b * queries() + i) * heads + head) * valueWidth();
  }

  /// The limit of all sequences, or of sequence b.
  int64_t limitOf(int64_t b) const { return limit->integers[limit->elements() == 1 ? 0 : b]; }

  bool sees(int64_t b, int64_t i, int64_t j) const {
    const int64_t own = i + keys() - queries();
    int64_t last = std::numeric_limits<int64_t>::max();
    if (causal)
      last = std::min(last, own);
    if (limit)
      last = std::min(last, limitOf(b) + i);
    if (j > last)
      return false;
    if (window && (causal || limit) && j <= last - *window)
      return false;
    if (window && !causal && !limit && std::abs(own - j) >= *window)
      return false;
    return !segments || segments->integers[b * queries() + i] == segments->integers[b * keys() + j];
  }

  /// The factor by which dropout multiplies a weight: 1 for all weights if all words of the key are 0.
  double factorOf(int64_t b, int64_t head, int64_t i, int64_t j) const {
    if (!dropout || std::ranges::all_of(dropoutKey->integers, [](int64_t number) { return number == 0; }))
      return 1;
    const auto word = [&](size_t index) { return uint32_t(dropoutKey->integers[index]); };
    const auto words =
        philox4x32({uint32_t(j / 4), uint32_t(i), uint32_t((batch() * word(3) + b) * heads + head), word(2)},
                   {word(0), word(1)});
    return double(words[size_t(j % 4)] >> 8) < *dropout * 0x1p24 ? 0 : 1 / (1 - *dropout);
  }
};

/// The position of query i among the keys of sequence b, minus that of key j.
int64_t distanceOf(const Problem &p, int64_t b, int64_t i, int64_t j) {
  return i + (p.limit ? p.limitOf(b) : p.keys() - p.queries()) - j;
}

/// The index of the bias of a query and a key.
int64_t biasAt(const Problem &p, int64_t b, int64_t head, int64_t i, int64_t j) {
  const int64_t width = p.bias->dim(1);
  return head * width + std::clamp<int64_t>(width / 2 + distanceOf(p, b, i, j), 0, width - 1);
}

/// The bias of linear positions, and that of the operand.
double biasOf(const Problem &p, int64_t b, int64_t head, int64_t i, int64_t j) {
  const double given = p.bias ? p.bias->reals[biasAt(p, b, head, i, j)] : 0;
  if (!p.alibi)
    return given;
  const auto power = int64_t(std::bit_floor(uint64_t(p.heads)));
  const double exponent = head < power ? -8.0 * double(head + 1) / double(power)
                                       : -4.0 * double(2 * (head - power) + 1) / double(power);
  return given - *p.alibi * std::exp2(exponent) * double(distanceOf(p, b, i, j));
}

/// Probabilities of all keys for one query of one head, before dropout, the log-sum-exp of its scores (-inf
/// without visible keys or a sink), and the slope of each visible score's soft cap (1 without one).
struct Row {
  std::vector<double> probabilities, slopes;
  double lse;
};

double dot(const Tensor &a, int64_t at, const Tensor &b, int64_t bt, int64_t width) {
  double sum = 0;
  for (int64_t d = 0; d < width; ++d)
    sum += a.reals[at + d] * b.reals[bt + d];
  return sum;
}

/// Computes a row. A `logSumExp` of the row replaces that of its scores.
Row attend(const Problem &p, int64_t b, int64_t i, int64_t head,
           std::optional<double> logSumExp = std::nullopt) {
  constexpr double unseen = -std::numeric_limits<double>::infinity();
  std::vector<double> scores(p.keys(), unseen), slopes(p.keys(), 1.0);
  double largest = unseen, sum = 0;
  for (int64_t j = 0; j < p.keys(); ++j)
    if (p.sees(b, i, j)) {
      scores[j] = p.scale * dot(p.q, p.queryAt(b, i, head), p.k, p.keyAt(b, j, head), p.width()) +
                  biasOf(p, b, head, i, j);
      if (p.softcap) {
        const double bounded = std::tanh(scores[j] / *p.softcap);
        scores[j] = *p.softcap * bounded;
        slopes[j] = 1 - bounded * bounded;
      }
      largest = std::max(largest, scores[j]);
    }
  if (p.sinks)
    largest = std::max(largest, p.sinks->reals[head]);
  if (largest == unseen)
    return {std::vector<double>(p.keys(), 0.0), std::move(slopes), unseen};
  for (double score : scores)
    sum += std::exp(score - largest);
  if (p.sinks)
    sum += std::exp(p.sinks->reals[head] - largest);
  const double lse = logSumExp ? *logSumExp : largest + std::log(sum);
  for (double &score : scores)
    score = std::exp(score - lse);
  return {std::move(scores), std::move(slopes), lse};
}

std::optional<double> inDouble(const std::optional<APFloat> &number) {
  return number ? std::optional(number->convertToDouble()) : std::nullopt;
}

/// Calls `visit(b, i, head)` for every query of every head.
template <typename F> void forEachQuery(const Problem &p, F visit) {
  for (int64_t b = 0; b < p.batch(); ++b)
    for (int64_t head = 0; head < p.heads; ++head)
      for (int64_t i = 0; i < p.queries(); ++i)
        visit(b, i, head);
}

const Tensor *optional(Frame &frame, Value value) { return value ? &frame[value] : nullptr; }

Tensors attention(nn::AttentionOp op, Frame &frame) {
  const Tensor &q = frame[op.getQ()];
  int64_t depth = q.dim(2) / int64_t(op.getHeads());
  double scale = op.getScale() ? op.getScale()->convertToDouble() : 1 / std::sqrt(double(depth));
  Problem p{q,
            frame[op.getK()],
            frame[op.getV()],
            optional(frame, op.getSegments()),
            optional(frame, op.getLimit()),
            optional(frame, op.getSinks()),
            optional(frame, op.getDropoutKey()),
            optional(frame, op.getBias()),
            int64_t(op.getHeads()),
            int64_t(op.getKvHeads().value_or(op.getHeads())),
            op.getCausal(),
            op.getWindow(),
            inDouble(op.getSoftcap()),
            inDouble(op.getAlibi()),
            inDouble(op.getDropout()),
            scale};
  Tensor out(op.getOut()), lse(op.getLse());
  forEachQuery(p, [&](int64_t b, int64_t i, int64_t head) {
    Row row = attend(p, b, i, head);
    lse.reals[(b * p.heads + head) * p.queries() + i] = row.lse;
    for (int64_t j = 0; j < p.keys(); ++j) {
      const double weight = row.probabilities[j] * p.factorOf(b, head, i, j);
      for (int64_t e = 0; e < p.valueWidth(); ++e)
        out.reals[p.outAt(b, i, head) + e] += weight * p.v.reals[p.valueAt(b, j, head) + e];
    }
  });
  return {out, lse};
}

/// With P = softmax(S), S = scale q k^T, O = P v: dv = P^T dO, dP = dO v^T, dS = P (dP - sum_j P dP + dlse),
/// dq = scale dS k, dk = scale dS^T q. With a soft cap, dS is multiplied by the slope of the cap.
/// With dropout, dP and the P of dv are multiplied by its factors.
Tensors attentionGrad(nn::AttentionGradOp op, Frame &frame) {
  Problem p{frame[op.getQ()],
            frame[op.getK()],
            frame[op.getV()],
            optional(frame, op.getSegments()),
            /*limit=*/nullptr,
            /*sinks=*/nullptr,
            optional(frame, op.getDropoutKey()),
            optional(frame, op.getBias()),
            int64_t(op.getHeads()),
            int64_t(op.getKvHeads()),
            op.getCausal(),
            op.getWindow(),
            inDouble(op.getSoftcap()),
            inDouble(op.getAlibi()),
            inDouble(op.getDropout()),
            op.getScale().convertToDouble()};
  const Tensor &dout = frame[op.getDout()], &lse = frame[op.getLse()];
  const Tensor *dlse = optional(frame, op.getDlse());
  Tensors results{Tensor(op.getDq()), Tensor(op.getDk()), Tensor(op.getDv())};
  if (op.getDbias())
    results.emplace_back(op.getDbias());
  Tensor &dq = results[0], &dk = results[1], &dv = results[2];
  forEachQuery(p, [&](int64_t b, int64_t i, int64_t head) {
    // The log-sum-exp may be that of further scores, such as a sink's.
    Row row = attend(p, b, i, head, lse.reals[(b * p.heads + head) * p.queries() + i]);
    std::vector<double> &probabilities = row.probabilities, dp(p.keys()), factors(p.keys());
    for (int64_t j = 0; j < p.keys(); ++j) {
      probabilities[j] = frame.rounded(probabilities[j]);
      factors[j] = p.factorOf(b, head, i, j);
    }
    int64_t query = p.queryAt(b, i, head), out = p.outAt(b, i, head);
    double mean = 0, ofLse = dlse ? dlse->reals[(b * p.heads + head) * p.queries() + i] : 0;
    for (int64_t j = 0; j < p.keys(); ++j) {
      dp[j] = factors[j] * frame.rounded(dot(dout, out, p.v, p.valueAt(b, j, head), p.valueWidth()));
      mean += probabilities[j] * dp[j];
    }
    for (int64_t j = 0; j < p.keys(); ++j) {
      int64_t key = p.keyAt(b, j, head), value = p.valueAt(b, j, head);
      const double ofScore = probabilities[j] * (dp[j] - mean + ofLse) * row.slopes[j],
                   ds = p.scale * ofScore;
      if (p.bias)
        results[3].reals[biasAt(p, b, head, i, j)] += ofScore;
      for (int64_t d = 0; d < p.width(); ++d) {
        dq.reals[query + d] += ds * p.k.reals[key + d];
        dk.reals[key + d] += ds * p.q.reals[query + d];
      }
      for (int64_t e = 0; e < p.valueWidth(); ++e)
        dv.reals[value + e] += factors[j] * probabilities[j] * dout.reals[out + e];
    }
  });
  return results;
}

} // namespace

void trainc::reference::registerAttention(Registry &registry) {
  registry.add<nn::AttentionOp>(attention);
  registry.add<nn::AttentionGradOp>(attentionGrad);
}
