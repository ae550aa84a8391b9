// The table of settings.
#include "plan/settings/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace trainc::train;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::StartsWith;

TEST(Settings, NamesAreUnique) {
  for (const Setting *setting : kSettings)
    EXPECT_EQ(findSetting(setting->name), setting) << setting->name;
}

TEST(Settings, OptionIsTheNameWithDashes) {
  EXPECT_EQ(kZeroStage.option(), "--zero-stage");
  EXPECT_EQ(kParamPersistenceThreshold.option(), "--param-persistence-threshold");
}

/// The default is a value that the setting may have. A default that depends on something is described.
TEST(Settings, DefaultsAreValues) {
  for (const Setting *setting : kSettings) {
    EXPECT_EQ(setting->defaultValue.find(' '), std::string_view::npos) << setting->name;
    if (setting->hasWords() && setting->saysDefault())
      EXPECT_LT(setting->indexOf(setting->defaultValue), setting->wordCount()) << setting->name;
    if (setting->kind == ValueKind::Number && setting->saysDefault())
      EXPECT_EQ(setting->defaultValue.find_first_not_of("0123456789"), std::string_view::npos)
          << setting->name;
    if (!setting->derived.empty())
      EXPECT_EQ(setting->defaultValue, "") << setting->name;
  }
}

TEST(Settings, WordsOfValues) {
  EXPECT_THAT(kPrecision.words(), ElementsAre("fp32", "bf16", "fp16"));
  EXPECT_EQ(kPrecision.wordFor(Precision::bf16), "bf16");
  EXPECT_EQ(kPrecision.indexOf("int8"), kPrecision.wordCount());
  EXPECT_EQ(kReshardAfterForward.wordFor(false), "false");
  EXPECT_EQ(kPrefetch.defaultNumber(), 1);
}

TEST(Settings, DescriptionNamesConditionAndDefault) {
  EXPECT_THAT(kPrefetch.description(), StartsWith("With --zero-stage=3: number"));
  EXPECT_THAT(kPrefetch.description(), EndsWith("; default: 1"));
  EXPECT_THAT(kMemoryLimit.description(), EndsWith("the fastest plan that fits")); // there is no default
}

/// Each setting says what holds if it is not given.
TEST(Settings, DescriptionsOfTypesNameTheDefault) {
  for (const Setting *setting : kSettings)
    if (setting->theme == Theme::Precision && setting != &kKeepF32)
      EXPECT_NE(setting->description().find("default: "), std::string::npos) << setting->name;
}

TEST(Settings, Fractions) {
  EXPECT_EQ(fractionIn("0"), 0);
  EXPECT_EQ(fractionIn("0.05"), 0.05);
  EXPECT_EQ(fractionIn(".5"), 0.5);
  for (const std::string_view text : {"", "1", "1.5", "-0.1", "+0.1", "5e-2", "0x1", "nan", "0.1 ", "0.1.2"})
    EXPECT_EQ(fractionIn(text), std::nullopt) << text;
}
