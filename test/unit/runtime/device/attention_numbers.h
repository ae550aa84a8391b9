// Attention and its gradient by their definition in f64, for calls of libraries.
#pragma once

#include "test/unit/runtime/device/one_call.h"

namespace trainc::test {

struct AttentionCase {
  const char *name;
  uint64_t batch, queries, keys, heads, keyHeads, headSize, valueSize;
  bool causal = false, segments = false;
  std::optional<int32_t> limit = std::nullopt;
};

/// Attention and its gradient by their definitions.
struct AttentionNumbers {
  /// `round` rounds a number to the element type.
  template <typename Round> AttentionNumbers(const AttentionCase &c, Round round) : c(c) {
    q = randomNumbers(c.batch * c.queries * c.heads * c.headSize, 1);
    k = randomNumbers(c.batch * c.keys * c.keyHeads * c.headSize, 2);
    v = randomNumbers(c.batch * c.keys * c.keyHeads * c.valueSize, 3);
    dout = randomNumbers(c.batch * c.queries * c.heads * c.valueSize, 4);
    for (Numbers *each : {&q, &k, &v, &dout})
      for (float &number : *each)
        number = round(number);
    segments.resize(c.batch * c.queries);
    for (size_t i = 0; i < segments.size(); ++i)
      segments[i] = static_cast<int32_t>(i / 3 % 2);
    out.assign(dout.size(), 0);
    lse.assign(c.batch * c.heads * c.queries, 0);
    dq.assign(q.size(), 0);
    dk.assign(k.size(), 0);
    dv.assign(v.size(), 0);
    for (uint64_t b = 0; b < c.batch; ++b)
      for (uint64_t h = 0; h < c.heads; ++h)
        for (uint64_t i = 0; i < c.queries; ++i)
          compute(b, h, i);
  }

  bool sees(uint64_t b, uint64_t i, uint64_t j) const {
    return (!c.causal || int64_t(j) <= int64_t(i) + int64_t(c.keys) - int64_t(c.queries)) &&
           (!c.limit || int64_t(j) <= *c.limit + int64_t(i)) &&
           (!c.segments || segments[b * c.queries + i] == segments[b * c.queries + j]);
  }

  void compute(uint64_t b, uint64_t h, uint64_t i) {
    const uint64_t keyHead = h / (c.heads / c.keyHeads);
    const size_t query = ((b * c.queries + i) * c.heads + h) * c.headSize,
                 outAt = ((b * c.queries + i) * c.heads + h) * c.valueSize;
    const auto keyAt = [&](uint64_t j) { return ((b * c.keys + j) * c.keyHeads + keyHead) * c.headSize; };
    const auto valueAt = [&](uint64_t j) { return ((b * c.keys + j) * c.keyHeads + keyHead) * c.valueSize; };
    Reals weight(c.keys), slope(c.keys);
    double total = 0, mean = 0;
    for (uint64_t j = 0; j < c.keys; ++j) {
      double score = 0;
      for (uint64_t d = 0; d < c.headSize; ++d)
        score += double(q[query + d]) * k[keyAt(j) + d];
      weight[j] = sees(b, i, j) ? std::exp(kScale * score) : 0;
      total += weight[j];
    }
    lse[(b * c.heads + h) * c.queries + i] = std::log(total);
    for (uint64_t j = 0; j < c.keys && total > 0; ++j) {
      weight[j] /= total;
      for (uint64_t d = 0; d < c.valueSize; ++d) {
        out[outAt + d] += weight[j] * v[valueAt(j) + d];
        slope[j] += double(dout[outAt + d]) * v[valueAt(j) + d];
        dv[valueAt(j) + d] += weight[j] * dout[outAt + d];
      }
      mean += weight[j] * slope[j];
    }
    for (uint64_t j = 0; j < c.keys; ++j)
      for (uint64_t d = 0; d < c.headSize; ++d) {
        dq[query + d] += kScale * weight[j] * (slope[j] - mean) * k[keyAt(j) + d];
        dk[keyAt(j) + d] += kScale * weight[j] * (slope[j] - mean) * q[query + d];
      }
  }

  static constexpr float kScale = 0.375F;
  AttentionCase c;
  Numbers q, k, v, dout;
  std::vector<int32_t> segments;
  Reals out, lse, dq, dk, dv;
};

inline fb::AttentionT attentionOf(const AttentionCase &c, fb::AttentionPass pass) {
  fb::AttentionT attention;
  attention.pass = pass;
  attention.batch = c.batch;
  attention.queries = c.queries;
  attention.keys = c.keys;
  attention.heads = c.heads;
  attention.key_heads = c.keyHeads;
  attention.head_size = c.headSize;
  attention.value_size = c.valueSize;
  attention.causal = c.causal;
  attention.scale = AttentionNumbers::kScale;
  return attention;
}

} // namespace trainc::test
