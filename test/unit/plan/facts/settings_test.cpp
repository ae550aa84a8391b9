// Typed keys read the settings that a plan records.
#include "plan/facts/settings.h"

#include "plan/settings/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainc {
namespace {

using namespace train;

PlanSettings settingsWith(const std::string &report) {
  flatbuffers::FlatBufferBuilder builder;
  fb::PlanT plan;
  plan.name = "p";
  plan.target = "cpu";
  plan.report = report;
  builder.Finish(fb::CreatePlan(builder, &plan));
  return PlanSettings(*flatbuffers::GetRoot<fb::Plan>(builder.GetBufferPointer()));
}

/// A report with one setting.
PlanSettings with(const train::Setting &setting, const std::string &value,
                  const std::string &source = "--option") {
  return settingsWith(R"({"settings": [{"setting": ")" + std::string(setting.name) + R"(", "value": ")" +
                      value + R"(", "source": ")" + source + R"("}]})");
}

TEST(PlanSettings, AreReadByKey) {
  EXPECT_EQ(kPrecision.of(with(kPrecision, "fp16")), Precision::fp16);
  EXPECT_EQ(kMemoryLimit.given(with(kMemoryLimit, "1073741824")), 1 << 30);
  EXPECT_EQ(kOffloadGroup.given(with(kOffloadGroup, "16MiB")), 16 << 20);
  EXPECT_EQ(kRanks.of(with(kRanks, "4")), 4);
  EXPECT_TRUE(kOffload.has(with(kOffload, "optimizer,parameters"), Offloaded::parameters));
  const PlanSettings named = with(kGpu, "h200");
  EXPECT_EQ(kGpu.of(named), "h200");
}

TEST(PlanSettings, DefaultsAreNotSet) {
  EXPECT_TRUE(kGpu.isSet(with(kGpu, "h200")));
  EXPECT_FALSE(kGpu.isSet(with(kGpu, "none", "default")));
  EXPECT_FALSE(kGpu.isSet(settingsWith("{}")));
}

/// The report is not verified.
TEST(PlanSettings, OtherValuesCountAsMissing) {
  EXPECT_EQ(kPrecision.given(with(kPrecision, "int8")), std::nullopt);
  EXPECT_EQ(kPrecision.of(with(kPrecision, "int8")), Precision::fp32);
  EXPECT_EQ(kMemoryLimit.given(with(kMemoryLimit, "none")), std::nullopt);
  EXPECT_EQ(kMemoryLimit.given(with(kMemoryLimit, "0")), std::nullopt);
  EXPECT_EQ(kRanks.given(with(kRanks, "0")), std::nullopt);
  EXPECT_EQ(kLibraryCalls.given(with(kLibraryCalls, "of the target", "default")), std::nullopt);
  EXPECT_FALSE(kOffload.has(with(kOffload, "optimizer,all"), Offloaded::optimizer));
  EXPECT_EQ(kPrecision.given(settingsWith("no JSON")), std::nullopt);
}

} // namespace
} // namespace trainc
