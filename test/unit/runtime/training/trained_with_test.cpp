#include "runtime/training/trained_with.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainc {
namespace {

using testing::HasSubstr;
using Environment = std::map<std::string, std::string>;

/// A plan of which only what checkpoints record matters.
struct PlanOf {
  flatbuffers::FlatBufferBuilder builder;
  const fb::Plan *plan = nullptr;

  explicit PlanOf(uint64_t checksum, const std::string &clip = "1", uint64_t accumulate = 2,
                  uint32_t ranks = 1) {
    fb::PlanT plan;
    plan.name = "p";
    plan.target = "cpu";
    plan.ranks = ranks;
    plan.training = std::make_unique<fb::TrainingT>();
    plan.training->micro_batch = 8;
    plan.training->accumulate = accumulate;
    plan.training->model_checksum = checksum;
    plan.report = R"({"settings": [{"setting": "clip", "changes_numbers": true, "value": ")" + clip +
                  R"("}, {"setting": "zero_stage", "value": "3"},
                     {"setting": "ranks", "changes_numbers": 1, "value": "2"}]})";
    builder.Finish(fb::CreatePlan(builder, &plan));
    this->plan = flatbuffers::GetRoot<fb::Plan>(builder.GetBufferPointer());
  }
};

Environment recordOf(const PlanOf &plan) { return trainingOf(*plan.plan); }

TEST(TrainedWith, RecordsWhatAStepsNumbersDependOn) {
  EXPECT_EQ(recordOf(PlanOf(0x1f)), (Environment{{"clip", "1"},
                                                 {"group", "none"},
                                                 {"model_checksum", "000000000000001f"},
                                                 {"samples_per_step", "16"}}));
}

TEST(TrainedWith, AModelWithAnotherTextIsNamed) {
  const PlanOf plan(31), other(32), unknown(0);
  EXPECT_EQ(describeOtherModel(recordOf(plan), recordOf(plan)), "");
  EXPECT_THAT(describeOtherModel(recordOf(other), recordOf(plan)), HasSubstr("another text"));
  // Plans and checkpoints of earlier versions have none.
  EXPECT_EQ(describeOtherModel(recordOf(unknown), recordOf(plan)), "");
  EXPECT_EQ(describeOtherModel(recordOf(plan), recordOf(unknown)), "");
}

TEST(TrainedWith, SettingsThatDifferAreNamed) {
  const PlanOf plan(31);
  EXPECT_EQ(describeOtherTraining(recordOf(plan), recordOf(plan)), "");
  EXPECT_EQ(describeOtherTraining(recordOf(PlanOf(31, "1", 1, 2)), recordOf(plan)), "");
  EXPECT_EQ(describeOtherTraining(recordOf(PlanOf(31, "0.5", 1)), recordOf(plan)),
            "clip was 1 and is 0.5, samples_per_step was 16 and is 8 in this plan");
  EXPECT_EQ(describeOtherTraining(recordOf(plan), {}), "");
}

} // namespace
} // namespace trainc
