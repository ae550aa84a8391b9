// Instructions that the loss depends on, in an entry worked out by hand.
#include "test/unit/report/verified_plan.h"
#include "tools/report/analysis.h"
#include "tools/report/forward.h"

#include <gmock/gmock.h>

namespace trainc::test {
namespace {

/// An entry of copies and zeroings of 64 bytes.
class Forward : public testing::Test {
protected:
  uint32_t value(const std::string &name, uint64_t parts = 1) {
    return plan.buffer(name, PlanBuilder::kScratch, fb::DType::F32, 16 * parts);
  }
  void copy(PlanBuilder::Body &to, uint32_t from, uint32_t into) { plan.copy(to, at(from), at(into), 64); }
  /// Whether each moment is of the forward.
  std::vector<bool> found() const {
    const VerifiedPlan verified(plan);
    const report::Analysis analysis(verified.plan());
    return report::forwardOf(verified.plan(), analysis.entries.at(0).moments);
  }

  PlanBuilder plan;
  uint32_t weight = plan.buffer("weight", PlanBuilder::kPersistent, fb::DType::F32, 16, fb::Role::Parameter);
  uint32_t loss = plan.scalar("loss", fb::DType::F32, fb::Direction::FromDevice);
  PlanBuilder::Body &body = plan.entry("micro_step").instructions;
};

TEST_F(Forward, IsWhatTheLossNeedsAndNotWhatNeedsTheSame) {
  const uint32_t hidden = value("hidden"), gradient = value("gradient"), again = value("again");
  copy(body, weight, hidden);
  copy(body, hidden, again); // for the backward alone
  plan.copy(body, at(hidden), at(loss), 4);
  copy(body, again, gradient);
  copy(body, gradient, weight);
  EXPECT_THAT(found(), testing::ElementsAre(true, false, true, false, false));
}

TEST_F(Forward, FollowsWhatIterationsHandOn) {
  const uint32_t first = value("first"), second = value("second"), other = value("other", 3);
  plan.zero(body, at(second), 64);
  PlanBuilder::Body &loop = plan.loop(body, 3);
  copy(loop, second, first); // which the iteration before has written
  plan.copy(loop, at(first), at(other, 0, 64), 64);
  copy(loop, weight, second);
  plan.copy(body, at(first), at(loss), 4);
  EXPECT_THAT(found(), testing::ElementsAre(true, true, false, true, true));
}

TEST_F(Forward, IsNothingWithoutALoss) {
  copy(body, weight, value("hidden"));
  EXPECT_THAT(found(), testing::ElementsAre(false));
}

} // namespace
} // namespace trainc::test
