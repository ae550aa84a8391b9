// Machine code selected by the values of --cpu.
#include "lib/Codegen/Cpu/Levels.h"
#include "plan/settings/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace trainc;
using namespace trainc::codegen;

/// Levels in plans equal the values that users may name.
TEST(CpuLevels, AreThoseOfTheWord) {
  std::vector<std::string> words = {"all", "native"};
  for (const Level &level : allLevels(Fp32Products::Fma))
    words.emplace_back(level.name);
  EXPECT_THAT(train::kCpu.words(), ::testing::ElementsAreArray(words));
}
