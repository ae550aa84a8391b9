#include "tools/trainrun/launched_rank.h"

#include <gmock/gmock.h>
#include <map>

namespace trainc {
namespace {

using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Environment environmentOf(const Variables &variables) {
  return [&](const char *name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

Result<std::optional<LaunchedRank>> read(const Variables &variables) {
  return rankFromEnvironment(environmentOf(variables));
}

LaunchedRank placeOf(const Variables &variables) {
  const Result<std::optional<LaunchedRank>> place = read(variables);
  EXPECT_TRUE(place.ok() && *place);
  return place.ok() && *place ? **place : LaunchedRank();
}

std::string errorOf(const Variables &variables) {
  const Result<std::optional<LaunchedRank>> place = read(variables);
  EXPECT_EQ(place.status().exitCode(), 2);
  return place.status().message();
}

TEST(LaunchedRank, NoLauncher) {
  const auto place = read({{"MASTER_PORT", "29500"}, {"RANK", "1"}});
  EXPECT_TRUE(place.ok() && !*place);
}

TEST(LaunchedRank, Torchrun) {
  const LaunchedRank place = placeOf({{"RANK", "5"},
                                      {"WORLD_SIZE", "8"},
                                      {"LOCAL_RANK", "1"},
                                      {"LOCAL_WORLD_SIZE", "4"},
                                      {"MASTER_ADDR", "127.0.0.1"},
                                      {"MASTER_PORT", "29500"}});
  EXPECT_EQ(place.launcher, Launcher::kTorchrun);
  EXPECT_EQ(place.rank, 5U);
  EXPECT_EQ(place.ranks, 8U);
  EXPECT_EQ(place.localRank, 1U);
  EXPECT_EQ(place.localRanks, 4U);
  EXPECT_EQ(place.job, "127.0.0.1:29500");
  EXPECT_EQ(place.address, "127.0.0.1");
  EXPECT_EQ(place.port, "29500");
  EXPECT_FALSE(place.portIsTaken);
  EXPECT_EQ(place.passedOver, "");
}

TEST(LaunchedRank, TorchrunMayListenAtItsPort) {
  EXPECT_TRUE(placeOf({{"RANK", "0"},
                       {"WORLD_SIZE", "2"},
                       {"MASTER_PORT", "29500"},
                       {"TORCHELASTIC_USE_AGENT_STORE", "True"}})
                  .portIsTaken);
}

TEST(LaunchedRank, TorchrunsPortWillDo) {
  EXPECT_EQ(placeOf({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "29500"}}).job, "29500");
}

TEST(LaunchedRank, WhatTellsJobsOfOnePortApart) {
  Variables variables = {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "29500"}};
  EXPECT_EQ(placeOf(variables).launch, "");
  variables["TORCHELASTIC_RUN_ID"] = "a";
  EXPECT_EQ(placeOf(variables).launch, "TORCHELASTIC_RUN_ID=a");
  variables["SLURM_JOB_ID"] = "77";
  variables["SLURM_STEP_ID"] = "3";
  EXPECT_EQ(placeOf(variables).launch, "TORCHELASTIC_RUN_ID=a SLURM_JOB_ID=77");
  EXPECT_EQ(placeOf(variables).job, "29500");
}

TEST(LaunchedRank, WithoutLocalVariablesAllAreOnOneHost) {
  const LaunchedRank place = placeOf({{"RANK", "1"}, {"WORLD_SIZE", "2"}});
  EXPECT_EQ(place.localRank, 1U);
  EXPECT_EQ(place.localRanks, 2U);
  EXPECT_EQ(place.job, "");
}

TEST(LaunchedRank, OpenMpi) {
  const LaunchedRank place = placeOf({{"OMPI_COMM_WORLD_RANK", "3"},
                                      {"OMPI_COMM_WORLD_SIZE", "4"},
                                      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                      {"PMIX_NAMESPACE", "job-1"},
                                      {"SLURM_PROCID", "0"},
                                      {"SLURM_NTASKS", "1"}});
  EXPECT_EQ(place.launcher, Launcher::kMpirun);
  EXPECT_EQ(place.rank, 3U);
  EXPECT_EQ(place.localRanks, 2U);
  EXPECT_EQ(place.job, "job-1");
}

TEST(LaunchedRank, Srun) {
  Variables variables = {{"SLURM_PROCID", "1"},        {"SLURM_NTASKS", "2"},  {"SLURM_LOCALID", "1"},
                         {"SLURM_JOB_ID", "77"},       {"SLURM_STEP_ID", "3"}, {"SLURM_STEP_NUM_TASKS", "2"},
                         {"SLURM_STEP_NUM_NODES", "1"}};
  EXPECT_TRUE(placeOf(variables).started);
  EXPECT_EQ(placeOf(variables).localRanks, 2U);
  EXPECT_EQ(placeOf(variables).job, "77.3");
  variables["SLURM_STEP_NUM_NODES"] = "2";
  variables["SLURM_LOCALID"] = "0";
  EXPECT_EQ(placeOf(variables).localRanks, 1U);
}

TEST(LaunchedRank, AScriptOfSlurmIsNoRank) {
  const LaunchedRank place = placeOf({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_NNODES", "1"}});
  EXPECT_FALSE(place.started);
  EXPECT_EQ(place.ranks, 4U);
}

TEST(LaunchedRank, OfTwoLaunchersTheFirstCounts) {
  Variables variables = {{"RANK", "0"},         {"WORLD_SIZE", "2"},    {"SLURM_PROCID", "0"},
                         {"SLURM_NTASKS", "2"}, {"SLURM_LOCALID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}};
  EXPECT_EQ(placeOf(variables).passedOver, "");
  variables["WORLD_SIZE"] = "4";
  EXPECT_EQ(placeOf(variables).launcher, Launcher::kTorchrun);
  EXPECT_EQ(placeOf(variables).passedOver,
            "RANK=0 and WORLD_SIZE=4 of torchrun count, and SLURM_PROCID=0 and "
            "SLURM_NTASKS=2 of srun are passed over");
  variables.erase("SLURM_STEP_NUM_TASKS"); // a script, which starts ranks itself
  EXPECT_EQ(placeOf(variables).passedOver, "");
}

TEST(LaunchedRank, WhereARankWithoutAPlaceMeetsTheOthers) {
  Variables variables = {{"RANK", "4"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "x"}, {"MASTER_PORT", "29500"}};
  for (const char *ranks : {"4", "x", ""}) {
    variables["WORLD_SIZE"] = ranks;
    if (!*ranks)
      variables.erase("WORLD_SIZE");
    const std::optional<LaunchedRank> place = guessRank(environmentOf(variables), 8);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->rank, 4U);
    EXPECT_EQ(place->ranks, 8U);
    EXPECT_EQ(place->ranks, place->localRanks);
    EXPECT_EQ(place->job, "29500");
  }
  EXPECT_EQ(guessRank(environmentOf(variables), 2)->ranks, 5U);
  variables["LOCAL_WORLD_SIZE"] = "2";
  EXPECT_EQ(guessRank(environmentOf(variables), 8)->localRanks, 2U);
  variables["LOCAL_WORLD_SIZE"] = "9";
  EXPECT_EQ(guessRank(environmentOf(variables), 8)->localRanks, 8U);
  variables["LOCAL_WORLD_SIZE"] = "4"; // of a rank whose number alone is wrong
  EXPECT_EQ(guessRank(environmentOf(variables), 4)->localRanks, 5U);
  variables["RANK"] = "four";
  EXPECT_FALSE(guessRank(environmentOf(variables), 8));
  EXPECT_FALSE(guessRank(environmentOf({}), 8));
}

TEST(LaunchedRank, OneVariableOfTwoIsMissed) {
  const Variables rank = {{"RANK", "1"}}, ranks = {{"WORLD_SIZE", "2"}};
  EXPECT_THAT(checkTorchrunIsWhole(environmentOf(rank)).message(),
              HasSubstr("RANK=1 is set, but WORLD_SIZE is not"));
  EXPECT_THAT(checkTorchrunIsWhole(environmentOf(ranks)).message(),
              HasSubstr("WORLD_SIZE=2 is set, but RANK is not"));
  EXPECT_TRUE(checkTorchrunIsWhole(environmentOf({})).ok());
}

TEST(LaunchedRank, ErrorsNameTheVariable) {
  EXPECT_THAT(errorOf({{"RANK", "one"}, {"WORLD_SIZE", "2"}}), HasSubstr("variable RANK is 'one'"));
  EXPECT_THAT(errorOf({{"RANK", "2"}, {"WORLD_SIZE", "2"}}),
              HasSubstr("RANK=2 and WORLD_SIZE=2 contradict each other"));
  EXPECT_THAT(errorOf({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "3"}}), HasSubstr("LOCAL_RANK=3"));
}

} // namespace
} // namespace trainc
