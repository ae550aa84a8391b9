// Attention and its gradient against the reference.
#include "test/unit/codegen/attention_cases.h"

using namespace trainc::codegen;
using namespace trainc::codegen::harness;

namespace {

class AttentionTest : public ::testing::TestWithParam<AttentionCase> {};
class AttentionGradTest : public ::testing::TestWithParam<AttentionCase> {};

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionTest, ::testing::ValuesIn(kAttentionCases), nameOfCase);
INSTANTIATE_TEST_SUITE_P(Limited, AttentionTest, ::testing::ValuesIn(kLimitedAttentionCases), nameOfCase);
INSTANTIATE_TEST_SUITE_P(Shapes, AttentionGradTest, ::testing::ValuesIn(kAttentionCases), nameOfCase);

TEST_P(AttentionTest, MatchesReference) {
  CompiledOp op(forwardText(GetParam()));
  ASSERT_TRUE(op);
  expectMatchesReference(op, op.randomInputs(GetParam().limit ? GetParam().keys / 2 : 3), 1e-5);
}

TEST_P(AttentionGradTest, MatchesReference) {
  const AttentionCase &c = GetParam();
  CompiledOp forward(forwardText(c, kGradScale)), op(gradText(c));
  ASSERT_TRUE(forward && op);
  expectMatchesReference(op, gradientInputs(c, forward, op), 2e-5);
}

} // namespace
