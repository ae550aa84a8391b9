// Attention by libraries, compared with its definition in f64.
#include "plan/schema/cpu_workspace.h"
#include "test/unit/runtime/device/attention_numbers.h"

#include <gmock/gmock.h>

namespace trainc::test {
namespace {

float asIs(float number) { return number; }

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
    const AttentionNumbers numbers(c, asIs);
    OneCall call(*device);
    fb::AttentionT forward = attentionOf(c, fb::AttentionPass::Forward);
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
