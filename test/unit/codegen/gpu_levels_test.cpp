// Machine code selected by the values of --gpu-levels.
#include "dialects/Train/ProgramSettings.h"
#include "lib/Codegen/Cuda/GpuLevels.h"
#include "plan/schema/cuda_levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace trainc;
using namespace trainc::codegen;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

TEST(GpuLevels, AreInOrderAndOnce) {
  EXPECT_THAT(chooseGpuLevels("sm_100,sm_80,sm_100"), ElementsAre("sm_80", "sm_100"));
  EXPECT_THAT(chooseGpuLevels("sm_90"), ElementsAre("sm_90"));
  EXPECT_THAT(chooseGpuLevels("sm_90,all"), ElementsAreArray(chooseGpuLevels("all")));
  EXPECT_THAT(chooseGpuLevels("none"), IsEmpty());
}

/// Levels in plans equal the values that users may name.
TEST(GpuLevels, AreThoseOfTheWord) {
  std::vector<llvm::StringRef> words = {"all", "none"};
  for (const CudaLevel &level : kCudaLevels)
    if (!level.isPtx)
      words.push_back(level.name);
  EXPECT_THAT(train::kGpuLevels.words(), ElementsAreArray(words));
  EXPECT_THAT(chooseGpuLevels("all"), ElementsAreArray(llvm::ArrayRef(words).drop_front(2)));
}
