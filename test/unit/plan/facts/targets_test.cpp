// The registry of targets, and what each row implies.
#include "plan/cost/cluster_file.h"
#include "plan/facts/target.h"

#include <gmock/gmock.h>

namespace trainc {
namespace {

using testing::Contains;
using testing::ElementsAre;

TEST(Targets, AreFoundByName) {
  EXPECT_EQ(findTarget("cuda")->processor(), "GPU");
  EXPECT_EQ(findTarget("cpu"), &kDefaultTarget);
  EXPECT_EQ(findTarget("rocm"), nullptr);
  EXPECT_EQ(findTarget(""), nullptr);
}

TEST(Targets, AreListedByTrait) {
  const auto isAny = [](const TargetTraits &) { return true; };
  EXPECT_EQ(std::string_view(namesOfTargets(isAny, "'")), "'cpu' or 'cuda'");
  EXPECT_EQ(std::string_view(namesOfTargets(&TargetTraits::sumsByKernel)), "cuda");
  EXPECT_EQ(std::string_view(namesOfTargets(hasDeviceMemory)), "cuda");
}

/// Predictions for plans that name no GPU take the rates of the row's cluster.
TEST(Targets, HaveAClusterOfTheirKind) {
  for (const TargetTraits &target : kTargets) {
    ASSERT_THAT(builtInClusterNames(), Contains(target.cluster));
    EXPECT_EQ(builtInCluster(target.cluster).hasComputeCapability(), target.hasComputeCapability);
  }
  EXPECT_EQ(builtInCluster(findTarget("cuda")->cluster).gpu, kDefaultGpu);
}

TEST(Targets, CodeIsTextInPtxAlone) {
  std::vector<std::string_view> texts;
  for (const TargetTraits &target : kTargets)
    for (const CodeLevel &level : target.code)
      if (!level.text.empty())
        texts.push_back(level.name);
  EXPECT_THAT(texts, ElementsAre("compute_80", "compute_89"));
}

} // namespace
} // namespace trainc
