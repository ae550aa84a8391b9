// Names of blocks and parameters, and the owners of bytes of a flat buffer.
#include "test/unit/report/verified_plan.h"
#include "tools/report/labels.h"
#include "tools/report/peak.h"

#include <gmock/gmock.h>
#include <numeric>

namespace trainc::test {
namespace {

using namespace report;

TEST(Labels, FindTheScopeOfASource) {
  EXPECT_EQ(scopeOf("h.3.attn: nn.matmul"), "h.3.attn");
  EXPECT_EQ(opOf("h.3.attn: nn.matmul"), "nn.matmul");
  EXPECT_EQ(scopeOf("nn.kernel (h.3: nn.add at line 4)"), "");
  EXPECT_EQ(opOf("nn.kernel (h.3: nn.add at line 4)"), "nn.kernel (h.3: nn.add at line 4)");
  EXPECT_EQ(scopeOf(": nn.add"), "");
}

TEST(Labels, FindTheBlockOfAScope) {
  EXPECT_EQ(blockOf("h.3.attn.c_attn"), "h.3");
  EXPECT_EQ(blockOf("model.layers.12"), "model.layers.12");
  EXPECT_EQ(blockOf("lm_head"), "lm_head");
  EXPECT_EQ(blockOf("model.embed_tokens"), "model.embed_tokens");
  EXPECT_EQ(blockOf(""), "");
}

TEST(Labels, LetNumbersStandForAllBlocks) {
  EXPECT_EQ(anyBlock("h.3.attn: nn.kernel (h.13: nn.add at line 14, fc1: nn.mul)"),
            "h.*.attn: nn.kernel (h.*: nn.add at line 14, fc1: nn.mul)");
  EXPECT_EQ(anyBlock("layers.10"), "layers.*");
  EXPECT_EQ(anyBlock("3.x"), "3.x");
}

/// A flat parameter of two tensors, divided among 2 ranks, with its moment and its gradient in 16 bits.
class FlatLabels : public testing::Test {
protected:
  FlatLabels() {
    plan.setRanks({2, 2});
    const uint32_t flat = buffer("bucket.0", fb::DType::F32, fb::Role::Parameter);
    const uint32_t moment = buffer("exp_avg.bucket.0", fb::DType::F32, fb::Role::Optimizer);
    buffer("grad.bucket.0", fb::DType::BF16, fb::Role::Gradient);
    plan.buffer("loss", PlanBuilder::kPersistent, fb::DType::F32, 1);
    state("h.0.w.weight", flat, 0, 96, fb::Role::Parameter);
    state("h.1.w.weight", flat, 96, 32, fb::Role::Parameter);
    state("exp_avg.h.0.w.weight", moment, 0, 96, fb::Role::Optimizer);
    state("exp_avg.h.1.w.weight", moment, 96, 32, fb::Role::Optimizer);
  }

  uint32_t buffer(const std::string &name, fb::DType dtype, fb::Role role) {
    return plan.buffer(name, PlanBuilder::kPersistent, dtype, 64, role);
  }
  void state(const std::string &name, uint32_t buffer, uint64_t offset, uint64_t elements, fb::Role role) {
    fb::StateT &state = plan.state(name, buffer, {elements}, role);
    state.offset = offset;
    state.sharded = std::make_unique<fb::Axes>(kShard.first, kShard.end);
  }

  PlanBuilder plan;
};

TEST_F(FlatLabels, DivideABufferAmongItsStates) {
  const VerifiedPlan verified(plan);
  const Labels labels(verified.plan());
  using Scopes = std::map<std::string, uint64_t>;
  EXPECT_EQ(labels.scopesOf(0), (Scopes{{"h.0.w", 192}, {"h.1.w", 64}}));
  EXPECT_EQ(labels.scopesOf(1), (Scopes{{"h.0.w", 192}, {"h.1.w", 64}}));
  EXPECT_EQ(labels.scopesOf(2), (Scopes{{"h.0.w", 96}, {"h.1.w", 32}})); // as the parameter's bytes
  EXPECT_EQ(labels.scopesOf(3), (Scopes{{"", 4}}));
}

TEST(Labels, SayWhatCollectivesGatherAndSum) {
  const VerifiedPlan verified(ranksPlan(4, 2));
  const fb::Plan &plan = verified.plan();
  const Labels labels(plan);
  std::map<std::string, Kind> kinds;
  for (uint32_t i = 0; i < plan.buffers()->size(); ++i)
    kinds[plan.buffers()->Get(i)->name()->str()] = labels.kind(i);
  EXPECT_EQ(kinds.at("w0"), Kind::Parameter);
  for (const fb::Buffer *buffer : *plan.buffers())
    if (buffer->role() != fb::Role::Activation)
      EXPECT_EQ(kinds.at(buffer->name()->str()), static_cast<Kind>(buffer->role()));
}

} // namespace
} // namespace trainc::test
