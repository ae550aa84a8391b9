// Attention by cuDNN, emulated, against its definition in f64.
#include "plan/schema/cudnn_attention.h"
#include "test/unit/runtime/device/attention_numbers.h"
#include "test/unit/runtime/device/first_gpu.h"
#include "test/unit/runtime/device/short_numbers.h"

#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Workspace that a plan allocates for a case.
uint64_t workspaceOf(const AttentionCase &c, bool isBackward) {
  return cudnnAttentionWorkspace({.isBackward = isBackward,
                                  .batch = c.batch,
                                  .queries = c.queries,
                                  .keys = c.keys,
                                  .heads = c.heads,
                                  .keyHeads = c.keyHeads,
                                  .headSize = c.headSize,
                                  .valueSize = c.valueSize});
}

double unitOf(fb::DType dtype) { return dtype == fb::DType::BF16 ? 0x1p-8 : 0x1p-11; }

/// Error bound of sums of rounded numbers, which are rounded again.
double boundOf(fb::DType dtype, const Reals &expected) {
  double largest = 1;
  for (const double each : expected)
    largest = std::max(largest, std::abs(each));
  return 3 * unitOf(dtype) * largest;
}

/// Error bound of an f32 log-sum-exp: cuDNN uses the GPU's approximate ex2 and lg2.
double logSumBound(const Device &device) { return isEmulated(device) ? 2e-6 : 1e-4; }

class CudaAttention : public testing::Test {
protected:
  /// Operands are buffers 0 to 4: q, k, v, out and log-sum-exp.
  static fb::AttentionT forwardOf(OneCall &call, const AttentionNumbers &numbers, fb::DType dtype) {
    fb::AttentionT forward = attentionOf(numbers.c, fb::AttentionPass::Forward);
    forward.values = dtype;
    forward.query = holdAs(call, dtype, numbers.q);
    forward.key = holdAs(call, dtype, numbers.k);
    forward.value = holdAs(call, dtype, numbers.v);
    forward.out = holdAs(call, dtype, Numbers(numbers.out.size(), NAN));
    forward.log_sum_exp = call.hold(Numbers(numbers.lse.size(), NAN));
    forward.workspace_bytes = workspaceOf(numbers.c, /*isBackward=*/false);
    forward.workspace = call.holdBytes(forward.workspace_bytes);
    return forward;
  }

  void check(const AttentionCase &c, fb::DType dtype) {
    const AttentionNumbers numbers(c, [&](float each) { return wideOf(dtype, shortBits(dtype, each)); });
    OneCall call(*device);
    fb::AttentionT forward = forwardOf(call, numbers, dtype);
    fb::AttentionT backward = forward;
    call.builder.attention(call.body(), std::move(forward));
    backward.pass = fb::AttentionPass::Backward;
    backward.out_gradient = holdAs(call, dtype, numbers.dout);
    backward.query_gradient = holdAs(call, dtype, Numbers(numbers.dq.size(), NAN));
    backward.key_gradient = holdAs(call, dtype, Numbers(numbers.dk.size(), NAN));
    backward.value_gradient = holdAs(call, dtype, Numbers(numbers.dv.size(), NAN));
    backward.workspace_bytes = workspaceOf(c, /*isBackward=*/true);
    backward.workspace = call.holdBytes(backward.workspace_bytes);
    call.builder.attention(call.body(), std::move(backward));
    // Once without a graph, then as part of one.
    const Status status = call.run(/*times=*/2);
    ASSERT_TRUE(status.ok()) << c.name << ": " << status.message();
    const auto expect = [&](uint32_t buffer, const Reals &expected, const char *what) {
      expectNear(readAs(call, dtype, buffer, expected.size()), expected, boundOf(dtype, expected),
                 fmt::format("{}: {}", c.name, what));
    };
    expect(3, numbers.out, "out");
    expectNear(call.read(4), numbers.lse, logSumBound(*device), fmt::format("{}: log-sum-exp", c.name));
    expect(7, numbers.dq, "gradient of q");
    expect(8, numbers.dk, "gradient of k");
    expect(9, numbers.dv, "gradient of v");
  }

  const std::unique_ptr<Device> device = firstGpu();
};

const AttentionCase kAttention[] = {{"plain", 2, 6, 6, 3, 3, 8, 8},
                                    {"causal", 1, 70, 70, 2, 2, 16, 16, true},
                                    {"odd", 2, 11, 11, 2, 2, 24, 8, true},
                                    {"grouped", 2, 10, 10, 6, 2, 8, 16, true},
                                    {"one head of keys", 1, 9, 9, 4, 1, 64, 64},
                                    {"more keys", 1, 3, 8, 2, 1, 8, 8, true},
                                    {"more queries", 1, 8, 4, 2, 1, 8, 8},
                                    {"largest heads", 1, 4, 4, 2, 2, 128, 128, true}};

TEST_F(CudaAttention, AndItsGradientOfBf16) {
  for (const AttentionCase &each : kAttention)
    check(each, fb::DType::BF16);
}

TEST_F(CudaAttention, AndItsGradientOfF16) {
  for (const AttentionCase &each : kAttention)
    check(each, fb::DType::F16);
}

/// The status of a forward pass.
class Tried : public CudaAttention {
protected:
  Status tried(const AttentionCase &c, const std::function<void(fb::AttentionT &)> &change = {},
               fb::DType dtype = fb::DType::BF16) {
    const AttentionNumbers numbers(c, [](float each) { return each; });
    OneCall call(*device);
    fb::AttentionT forward = forwardOf(call, numbers, dtype);
    if (change)
      change(forward);
    call.builder.attention(call.body(), std::move(forward));
    return call.run();
  }

  static constexpr AttentionCase kSmall{"small", 1, 4, 4, 2, 2, 8, 8};
};

TEST_F(Tried, WhatCudnnHasNot) {
  const auto wants = [](const char *found) {
    return AllOf(HasSubstr("entry init, instruction 0 (test.op at test.mlir:1): attention: expected one that "
                           "cuDNN has (bf16 or f16, heads in multiples of 8 up to 128"),
                 HasSubstr(found), HasSubstr("compile the model again"));
  };
  const Status wide = tried(kSmall, {}, fb::DType::F32);
  EXPECT_EQ(wide.exitCode(), 2);
  EXPECT_THAT(wide.message(),
              wants("found attention of f32, batch 1, 4 queries, 4 keys, 2 heads of 8 and 8"));
  EXPECT_THAT(tried({"", 1, 4, 4, 2, 2, 12, 8}).message(), wants("2 heads of 12 and 8"));
  EXPECT_THAT(tried({"", 1, 4, 4, 2, 2, 8, 136}).message(), wants("2 heads of 8 and 136"));
  EXPECT_THAT(tried({"", 1, 5, 4, 2, 2, 8, 8, true}).message(), wants("5 queries, 4 keys"));
  EXPECT_THAT(tried(kSmall, [](auto &call) { call.segments = some(at(0)); }).message(), wants("segments"));
  EXPECT_THAT(tried(kSmall, [](auto &call) { call.limit = some(at(0)); }).message(), wants("limit"));
}

TEST_F(Tried, TooSmallAWorkspace) {
  const Status status = tried(kSmall, [](auto &call) { call.workspace_bytes = 4096; });
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_THAT(
      status.message(),
      AllOf(HasSubstr("expected an engine of cuDNN 9."),
            HasSubstr("does with a workspace of 4096 bytes, found none below 16384 bytes for attention "
                      "of bf16, batch 1"),
            HasSubstr("--library-calls=products")));
}

TEST_F(Tried, UnalignedOperands) {
  EXPECT_THAT(tried(kSmall, [](auto &call) { call.query = some(at(0, 8)); }).message(),
              HasSubstr("expected operands at multiples of 16 bytes, as cuDNN needs, found one at 0x"));
}

/// Engines are chosen once, and resuming a checkpoint with others is detected.
TEST_F(Tried, ArithmeticNamesLibraryAndEngines) {
  EXPECT_THAT(device->arithmetic(), testing::Not(HasSubstr("cuDNN")));
  ASSERT_TRUE(tried(kSmall).ok());
  EXPECT_THAT(device->arithmetic(), AllOf(HasSubstr("cuDNN 9."), HasSubstr(", engines ")));
  EXPECT_THAT(device->description(), HasSubstr("cuDNN 9."));
}

} // namespace
} // namespace trainc::test
