// Savings and costs of recomputation, and sums of the tree, for a plan worked out by hand.
#include "test/unit/report/verified_plan.h"
#include "tools/report/offloadable.h"
#include "tools/report/peak.h"
#include "tools/report/tree.h"

#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using namespace report;

/// A micro-step, of which a step has two. Its instructions take 1, 2, 4, ... seconds, so that each sum names
/// its parts. "peak" runs when most is held: 576 bytes.
class MadeAgain : public testing::Test {
protected:
  static constexpr uint64_t kSlice = 64;

  MadeAgain() {
    plan.state("h.0.mlp.weight", weight, {4, 8}, fb::Role::Parameter);
    const uint32_t a = slices("a", 2), b = slices("b"), line6 = slices("line6"), split = slices("split", 3),
                   hole = slices("hole"), work = slices("work", 1, fb::Role::Workspace),
                   last = slices("last"), wide = slices("wide");
    plan.plan.buffers[hole]->offset = plan.plan.buffers[split]->offset + kSlice;
    copy(weight, a, 2 * kSlice, plan.source("h.0.mlp: nn.gelu", 5));
    copy(weight, b, kSlice, plan.source("h.1.mlp: nn.gelu", 5));
    copy(weight, line6, kSlice, plan.source("h.1.mlp: nn.gelu", 6));
    zero(split, 3 * kSlice, plan.source("h.1.ln: nn.layer_norm", 4));
    // Splits the value before it, and is gone before the peak.
    copy(weight, hole, kSlice, plan.source("h.0.mlp: nn.gelu", 5));
    copy(hole, weight, kSlice);
    // Neither is kept over the peak as an activation: one has another role, the peak reads the other last.
    copy(weight, work, kSlice, plan.source("h.0.mlp: nn.gelu", 5));
    copy(weight, last, kSlice, plan.source("h.0.mlp: nn.gelu", 5));
    peak(last, wide);
    read({at(wide), at(a, kSlice), at(b), at(line6), at(split), at(split, 2 * kSlice), at(work), at(loss)});
  }

  uint32_t slices(const std::string &name, uint64_t count = 1, fb::Role role = fb::Role::Activation) {
    return plan.buffer(name, PlanBuilder::kScratch, fb::DType::F32, count * kSlice / 4, role);
  }
  void copy(uint32_t from, uint32_t to, uint64_t bytes, uint32_t source = 0) {
    plan.copy(body, at(from), at(to), bytes, source);
    setSeconds();
  }
  void zero(uint32_t to, uint64_t bytes, uint32_t source) {
    plan.zero(body, at(to), bytes, source);
    setSeconds();
  }
  void peak(uint32_t from, uint32_t to) {
    const uint32_t kernel = plan.kernel(
        "peak", 1, {{fb::Access::Read, fb::DType::F32, kSlice}, {fb::Access::Write, fb::DType::F32, kSlice}});
    plan.plan.kernels[kernel]->flops = 1000;
    plan.launch(body, kernel, {at(from), at(to)}, plan.source("lm_head: nn.matmul", 7));
    setSeconds();
  }
  void read(const std::vector<fb::Operand> &operands) {
    const ParamSpec slice{fb::Access::Read, fb::DType::F32, kSlice};
    const ParamSpec number{fb::Access::Write, fb::DType::F32, 4};
    plan.launch(body, plan.kernel("read", 1, {slice, slice, slice, slice, slice, slice, slice, number}),
                operands);
    setSeconds();
  }
  void setSeconds() { body.back()->predicted_seconds = static_cast<float>(1U << (body.size() - 1)); }

  static Analysis analysisOf(const fb::Plan &plan) {
    Analysis analysis(plan);
    analysis.entries.at(0).runs = 2;
    return analysis;
  }

  PlanBuilder plan;
  uint32_t loss = plan.scalar("loss", fb::DType::F32, fb::Direction::FromDevice);
  uint32_t weight =
      plan.buffer("weight", PlanBuilder::kPersistent, fb::DType::F32, 2 * kSlice / 4, fb::Role::Parameter);
  PlanBuilder::Body &body = plan.entry("micro_step").instructions;
};

TEST_F(MadeAgain, SavesWhatIsKeptOverThePeakAtThePriceOfItsWriters) {
  const VerifiedPlan verified(plan);
  const Analysis analysis = analysisOf(verified.plan());
  ASSERT_EQ(analysis.peakMoment, 8);
  std::vector<std::string> texts;
  for (const RecomputableValue &each : recomputableValues(analysis))
    texts.push_back(fmt::format("{} at {}: {} with {} bytes, {} s", each.what, each.place, each.count,
                                each.bytes, each.seconds));
  EXPECT_THAT(texts, testing::ElementsAre("h.*.mlp: nn.gelu at test.mlir:5: 2 with 192 bytes, 6 s", // a, b
                                          "h.*.ln: nn.layer_norm at test.mlir:4: 1 with 128 bytes, 16 s",
                                          "h.*.mlp: nn.gelu at test.mlir:6: 1 with 64 bytes, 8 s"));
}

TEST_F(MadeAgain, OffloadCopiesAllBytesAtOneGigabyteASecond) {
  plan.plan.report = R"({"offload_to": "disk"})";
  const VerifiedPlan verified(plan);
  const OffloadableKinds offloadable = offloadableKinds(analysisOf(verified.plan()));
  EXPECT_EQ(offloadable.to, "disk");
  std::vector<std::string> texts;
  for (const OffloadableKind &each : offloadable.kinds)
    texts.push_back(
        fmt::format("{}: {} bytes, {:.0f} ns", each.offload, each.bytes, each.seconds.value_or(0) * 1e9));
  EXPECT_THAT(texts,
              testing::ElementsAre("activations: 384 bytes, 768 ns",  // stored and fetched
                                   "parameters: 128 bytes, 512 ns")); // three fetches and one store
}

TEST_F(MadeAgain, OffloadHasNoPriceIfNobodySaysWhereTo) {
  for (const char *report : {"", "{}", R"({"offload_to": 1})", R"({"offload_to": "tape"})",
                             R"({"offload_to": "host"})"}) { // which is the device of a plan for CPUs
    plan.plan.report = report;
    const VerifiedPlan verified(plan);
    EXPECT_THAT(offloadableKinds(Analysis(verified.plan())).kinds, testing::IsEmpty()) << report;
  }
}

TEST_F(MadeAgain, TreeSumsWhatIsBelowEachNode) {
  const VerifiedPlan verified(plan);
  std::vector<std::string> texts;
  const std::vector<TreeNode> nodes = treeOf(analysisOf(verified.plan()));
  for (const TreeNode &node : nodes)
    texts.push_back(fmt::format("{} in {}: {} parameters, {} held, {} at the peak, {} flops, {} moved, {} s",
                                node.name, nodes[node.parent].name, node.parameters, node.persistentBytes,
                                node.peakBytes, node.flops, node.bytes, node.seconds));
  EXPECT_THAT(texts,
              testing::ElementsAre(
                  // Also the copy of hole, and the reads at the end.
                  "test in test: 32 parameters, 128 held, 576 at the peak, 2000 flops, 3592 moved, 2046 s",
                  "h in test: 32 parameters, 128 held, 512 at the peak, 0 flops, 2176 moved, 446 s",
                  "0 in h: 32 parameters, 128 held, 256 at the peak, 0 flops, 1280 moved, 418 s",
                  "mlp in 0: 32 parameters, 128 held, 256 at the peak, 0 flops, 1280 moved, 418 s",
                  "1 in h: 0 parameters, 0 held, 256 at the peak, 0 flops, 896 moved, 28 s",
                  "mlp in 1: 0 parameters, 0 held, 128 at the peak, 0 flops, 512 moved, 12 s",
                  "ln in 1: 0 parameters, 0 held, 128 at the peak, 0 flops, 384 moved, 16 s",
                  "lm_head in test: 0 parameters, 0 held, 64 at the peak, 2000 flops, 256 moved, 512 s",
                  "weight in mlp: 32 parameters, 0 held, 0 at the peak, 0 flops, 0 moved, 0 s"));
}

} // namespace
} // namespace trainc::test
