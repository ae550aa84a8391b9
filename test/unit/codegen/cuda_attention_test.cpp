// Attention and its gradient on the emulated GPU: fused multiply-adds for f32 and f64, tensor cores for bf16
// and f16.
#include "test/unit/codegen/attention_cases.h"
#include "test/unit/codegen/cuda_harness.h"

#include "mlir/IR/Diagnostics.h"

using namespace trainc::codegen;
using namespace trainc::codegen::harness;

namespace {

const std::vector<AttentionCase> kShortCases = {
    {"bf16_causal", 2, 130, 130, 3, 3, 64, 64, true, false, false, "bf16"},
    {"bf16_wide_head", 1, 70, 100, 2, 1, 128, 128, false, false, false, "bf16"},
    {"bf16_odd_width", 1, 37, 37, 2, 2, 13, 7, true, false, false, "bf16"},
    {"bf16_segments", 2, 65, 65, 2, 2, 24, 40, true, true, false, "bf16"},
    {"bf16_fewer_keys", 1, 90, 20, 4, 2, 16, 16, true, false, false, "bf16"},
    {"bf16_widest", 1, 33, 40, 2, 1, 256, 256, true, false, false, "bf16"}, // dk and dv apart
    {"f32_widest", 1, 33, 20, 1, 1, 256, 256, true, false, false},          // more memory than is declared
    {"f16_grouped", 1, 50, 50, 6, 2, 64, 64, true, false, false, "f16"},
    {"f16_more_keys", 1, 20, 90, 2, 2, 20, 36, true, false, false, "f16"}};
const std::vector<AttentionCase> kLimitedShortCases = {
    {"bf16_decode", 2, 1, 96, 4, 2, 32, 32, false, false, true, "bf16"}};

/// Tolerance relative to the largest result, about 1. Results of bf16 and f16 are rounded, and so are the
/// weights of the second products.
double toleranceOf(const AttentionCase &c) {
  const std::string element = c.element;
  return element == "bf16" ? 2e-2 : element == "f16" ? 3e-3 : 2e-5;
}

class CudaAttentionTest : public ::testing::TestWithParam<AttentionCase> {};
class CudaAttentionGradTest : public ::testing::TestWithParam<AttentionCase> {};

INSTANTIATE_TEST_SUITE_P(Shapes, CudaAttentionTest, ::testing::ValuesIn(kAttentionCases), nameOfCase);
INSTANTIATE_TEST_SUITE_P(Short, CudaAttentionTest, ::testing::ValuesIn(kShortCases), nameOfCase);
INSTANTIATE_TEST_SUITE_P(Limited, CudaAttentionTest, ::testing::ValuesIn(kLimitedAttentionCases), nameOfCase);
INSTANTIATE_TEST_SUITE_P(LimitedShort, CudaAttentionTest, ::testing::ValuesIn(kLimitedShortCases),
                         nameOfCase);
INSTANTIATE_TEST_SUITE_P(Shapes, CudaAttentionGradTest, ::testing::ValuesIn(kAttentionCases), nameOfCase);
INSTANTIATE_TEST_SUITE_P(Short, CudaAttentionGradTest, ::testing::ValuesIn(kShortCases), nameOfCase);

TEST_P(CudaAttentionTest, MatchesReference) {
  CudaOp op(forwardText(GetParam()));
  ASSERT_TRUE(op);
  expectGpuMatchesReference(op, op.randomInputs(GetParam().limit ? GetParam().keys / 2 : 3),
                            toleranceOf(GetParam()));
}

TEST_P(CudaAttentionGradTest, MatchesReference) {
  const AttentionCase &c = GetParam();
  CudaOp forward(forwardText(c, kGradScale)), op(gradText(c));
  ASSERT_TRUE(forward && op);
  expectGpuMatchesReference(op, gradientInputs(c, forward, op), toleranceOf(c));
}

TEST(CudaAttention, ShortNumbersUseTensorCores) {
  CudaOp op(forwardText(kShortCases[0]));
  ASSERT_TRUE(op);
  EXPECT_TRUE(op.text().contains("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"));
  EXPECT_TRUE(op.text().contains("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"));
}

} // namespace
