// What attention of libraries computes, against its definition in f64.
#include "runtime/schema/cpu_workspace.h"
#include "test/unit/runtime/device/one_call.h"

#include <gmock/gmock.h>

namespace trainc::test {
namespace {

struct AttentionCase {
  const char *name;
  uint64_t batch, queries, keys, heads, keyHeads, headSize, valueSize;
  bool causal = false, segments = false;
  std::optional<int32_t> limit = std::nullopt;
};

/// Attention and its gradient by their definitions.
struct AttentionNumbers {
  explicit AttentionNumbers(const AttentionCase &c) : c(c) {
    q = randomNumbers(c.batch * c.queries * c.heads * c.headSize, 1);
    k = randomNumbers(c.batch * c.keys * c.keyHeads * c.headSize, 2);
    v = randomNumbers(c.batch * c.keys * c.keyHeads * c.valueSize, 3);
    dout = randomNumbers(c.batch * c.queries * c.heads * c.valueSize, 4);
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

fb::AttentionT sizesOf(const AttentionCase &c, fb::AttentionPass pass) {
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
  attention.workspace_bytes =
      cpuAttentionWorkspace(pass == fb::AttentionPass::Backward, c.batch, c.heads, c.queries);
  return attention;
}

class LibraryAttention : public testing::TestWithParam<MakeComputingDevice> {
protected:
  const std::unique_ptr<Device> device = GetParam()();
};

TEST_P(LibraryAttention, ComputesAttentionAndItsGradient) {
  const AttentionCase cases[] = {{"plain", 2, 5, 5, 3, 3, 4, 4},
                                 {"causal", 1, 70, 70, 2, 2, 8, 8, true},
                                 {"grouped", 2, 9, 9, 6, 2, 4, 6, true},
                                 {"more keys", 1, 3, 8, 2, 1, 4, 4, true},
                                 {"more queries", 1, 8, 3, 2, 1, 4, 4, true},
                                 {"segments", 2, 9, 9, 2, 2, 4, 4, true, true},
                                 {"limit", 1, 2, 130, 2, 1, 4, 4, false, false, 100},
                                 {"nothing to see", 1, 1, 4, 1, 1, 2, 2, false, false, -3}};
  for (const AttentionCase &c : cases) {
    const AttentionNumbers numbers(c);
    OneCall call(*device);
    fb::AttentionT forward = sizesOf(c, fb::AttentionPass::Forward);
    forward.query = call.hold(numbers.q);
    forward.key = call.hold(numbers.k);
    forward.value = call.hold(numbers.v);
    forward.out = call.hold(Numbers(numbers.out.size(), NAN));
    forward.log_sum_exp = call.hold(Numbers(numbers.lse.size(), NAN));
    auto segments = call.hold(numbers.segments);
    if (c.segments)
      forward.segments = std::move(segments);
    if (c.limit)
      forward.limit = call.hold(std::vector<int32_t>{*c.limit});
    fb::AttentionT backward = forward;
    call.builder.attention(call.body(), std::move(forward));
    if (!c.limit) {
      backward.pass = fb::AttentionPass::Backward;
      backward.out_gradient = call.hold(numbers.dout);
      backward.query_gradient = call.hold(Numbers(numbers.dq.size(), NAN));
      backward.key_gradient = call.hold(Numbers(numbers.dk.size(), NAN));
      backward.value_gradient = call.hold(Numbers(numbers.dv.size(), NAN));
      backward.workspace_bytes = cpuAttentionWorkspace(true, c.batch, c.heads, c.queries);
      backward.workspace = call.holdBytes(backward.workspace_bytes);
      call.builder.attention(call.body(), std::move(backward));
    }
    ASSERT_TRUE(call.run().ok());
    expectNear(call.read(3), numbers.out, 2e-6, fmt::format("{}: out", c.name));
    expectNear(call.read(4), numbers.lse, 2e-6, fmt::format("{}: log-sum-exp", c.name));
    if (c.limit)
      continue;
    expectNear(call.read(7), numbers.dq, 1e-5, fmt::format("{}: gradient of q", c.name));
    expectNear(call.read(8), numbers.dk, 1e-5, fmt::format("{}: gradient of k", c.name));
    expectNear(call.read(9), numbers.dv, 1e-5, fmt::format("{}: gradient of v", c.name));
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, LibraryAttention, testing::Values(onCpu<1>, onCpu<3>));
INSTANTIATE_TEST_SUITE_P(Emulated, LibraryAttention, testing::Values(onEmulated<1>));

} // namespace
} // namespace trainc::test
