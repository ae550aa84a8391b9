// Attention in plain code: one thread computes a query or, in the gradient, a key.
#include "plan/facts/library_calls.h"
#include "runtime/device/cpu/library_call.h"
#include "runtime/device/cpu/library_math.h"

#include <array>
#include <limits>

namespace trainc {

namespace {

/// Scores computed before the running sums are rescaled to the largest score.
constexpr uint64_t kKeys = 64;

float dot(const float *a, const float *b, uint64_t count) {
  float sum = 0;
  for (uint64_t i = 0; i < count; ++i)
    sum += a[i] * b[i];
  return sum;
}

void addScaled(float *to, float factor, const float *from, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    to[i] += factor * from[i];
}

float expOf(float x) { return static_cast<float>(plain::exp(x)); }

/// A query of one head of one sample.
struct Query {
  uint64_t sample, head, index;
};

class Heads {
public:
  Heads(const fb::Attention &call, void *const *args, const TileRunner &tiles)
      : call_(call), args_(args), tiles_(tiles) {}

  void runForward() const {
    forEachQuery([&](const Query &query) { attend(query); });
  }

  void runBackward() const {
    forEachQuery([&](const Query &query) {
      floats(kAttentionWorkspace)[numberOf(query)] =
          dot(row(kOutGradient, query), row(kOut, query), call_.value_size());
    });
    forEachQuery([&](const Query &query) { gatherQueryGradient(query); });
    tiles_.run(call_.batch() * call_.key_heads() * call_.keys(), [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i)
        gatherKeyGradients(i / call_.keys() / call_.key_heads(), i / call_.keys() % call_.key_heads(),
                           i % call_.keys());
    });
  }

private:
  float *floats(AttentionOperand operand) const { return static_cast<float *>(args_[operand]); }
  const int32_t *integers(AttentionOperand operand) const {
    return static_cast<const int32_t *>(args_[operand]);
  }
  uint64_t group() const { return call_.heads() / call_.key_heads(); }

  template <typename Visitor> void forEachQuery(const Visitor &visit) const {
    tiles_.run(call_.batch() * call_.heads() * call_.queries(), [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i)
        visit(Query{i / call_.queries() / call_.heads(), i / call_.queries() % call_.heads(),
                    i % call_.queries()});
    });
  }

  /// Index in [batch, heads, queries].
  uint64_t numberOf(const Query &query) const {
    return (query.sample * call_.heads() + query.head) * call_.queries() + query.index;
  }

  /// The row of a query in one head, in q, out and their gradients.
  float *row(AttentionOperand operand, const Query &query) const {
    const bool ofValues = operand == kOut || operand == kOutGradient;
    const uint64_t size = ofValues ? call_.value_size() : call_.head_size();
    return floats(operand) +
           ((query.sample * call_.queries() + query.index) * call_.heads() + query.head) * size;
  }

  /// The row of a key in one head, in k, v and their gradients.
  float *keyRow(AttentionOperand operand, uint64_t sample, uint64_t keyHead, uint64_t key) const {
    const bool ofValues = operand == kValue || operand == kValueGradient;
    const uint64_t size = ofValues ? call_.value_size() : call_.head_size();
    return floats(operand) + ((sample * call_.keys() + key) * call_.key_heads() + keyHead) * size;
  }

  bool sees(const Query &query, uint64_t key) const {
    if (call_.causal() && key + call_.queries() > query.index + call_.keys())
      return false;
    if (call_.limit() && static_cast<int64_t>(key) > *integers(kLimit) + static_cast<int64_t>(query.index))
      return false;
    if (!call_.segments())
      return true;
    const int32_t *segments = integers(kSegments) + query.sample * call_.queries();
    return segments[query.index] == segments[key];
  }

  float score(const Query &query, uint64_t key) const {
    return call_.scale() *
           dot(row(kQuery, query), keyRow(kKey, query.sample, query.head / group(), key), call_.head_size());
  }

  void attend(const Query &query) const {
    float largest = -std::numeric_limits<float>::infinity(), total = 0;
    float *out = row(kOut, query);
    std::fill_n(out, call_.value_size(), 0.0F);
    for (uint64_t first = 0; first < call_.keys(); first += kKeys)
      attendBlock(query, first, std::min(first + kKeys, call_.keys()), largest, total);
    for (uint64_t i = 0; total > 0 && i < call_.value_size(); ++i)
      out[i] /= total;
    floats(kLogSumExp)[numberOf(query)] = static_cast<float>(largest + plain::log(total));
  }

  void attendBlock(const Query &query, uint64_t begin, uint64_t end, float &largest, float &total) const {
    std::array<float, kKeys> scores{};
    const float before = largest;
    bool any = false;
    for (uint64_t key = begin; key < end; ++key)
      if (sees(query, key)) {
        scores[key - begin] = score(query, key);
        largest = std::max(largest, scores[key - begin]);
        any = true;
      }
    if (!any)
      return;
    const float shrink = expOf(before - largest);
    float *out = row(kOut, query);
    total *= shrink;
    for (uint64_t i = 0; i < call_.value_size(); ++i)
      out[i] *= shrink;
    for (uint64_t key = begin; key < end; ++key)
      if (sees(query, key)) {
        const float weight = expOf(scores[key - begin] - largest);
        total += weight;
        addScaled(out, weight, keyRow(kValue, query.sample, query.head / group(), key), call_.value_size());
      }
  }

  /// Attention weight of a query and a key, and the gradient of their scaled score.
  struct Pair {
    float weight, gradient;
  };
  Pair pairOf(const Query &query, uint64_t key) const {
    const float weight = expOf(score(query, key) - floats(kLogSumExp)[numberOf(query)]);
    const float *value = keyRow(kValue, query.sample, query.head / group(), key);
    const float slope = dot(row(kOutGradient, query), value, call_.value_size());
    return {weight, weight * (slope - floats(kAttentionWorkspace)[numberOf(query)])};
  }

  void gatherQueryGradient(const Query &query) const {
    float *gradient = row(kQueryGradient, query);
    std::fill_n(gradient, call_.head_size(), 0.0F);
    for (uint64_t key = 0; key < call_.keys(); ++key)
      if (sees(query, key))
        addScaled(gradient, call_.scale() * pairOf(query, key).gradient,
                  keyRow(kKey, query.sample, query.head / group(), key), call_.head_size());
  }

  /// Sums the contributions of all queries of all heads that use the key, in order.
  void gatherKeyGradients(uint64_t sample, uint64_t keyHead, uint64_t key) const {
    float *ofKey = keyRow(kKeyGradient, sample, keyHead, key),
          *ofValue = keyRow(kValueGradient, sample, keyHead, key);
    std::fill_n(ofKey, call_.head_size(), 0.0F);
    std::fill_n(ofValue, call_.value_size(), 0.0F);
    for (uint64_t head = keyHead * group(); head < (keyHead + 1) * group(); ++head)
      for (uint64_t index = 0; index < call_.queries(); ++index) {
        const Query query{sample, head, index};
        if (!sees(query, key))
          continue;
        const Pair pair = pairOf(query, key);
        addScaled(ofKey, call_.scale() * pair.gradient, row(kQuery, query), call_.head_size());
        addScaled(ofValue, pair.weight, row(kOutGradient, query), call_.value_size());
      }
  }

  const fb::Attention &call_;
  void *const *args_;
  const TileRunner &tiles_;
};

} // namespace

void runAttention(const fb::Attention &call, void *const *args, const TileRunner &tiles) {
  const Heads heads(call, args, tiles);
  if (call.pass() == fb::AttentionPass::Forward)
    heads.runForward();
  else
    heads.runBackward();
}

} // namespace trainc
