#include "tools/trainrun/launch_mode.h"

#include "runtime/device/device_kinds.h"

#include <gmock/gmock.h>

namespace trainc {
namespace {

using testing::HasSubstr;

Options optionsOf(std::optional<unsigned> processes, std::string comm = "auto") {
  Options options;
  options.plan = "x.plan";
  options.processes = processes;
  options.comm = std::move(comm);
  return options;
}

LaunchedRank startedBy(Launcher launcher, uint32_t ranks, uint32_t localRanks) {
  return {.launcher = launcher, .ranks = ranks, .localRanks = localRanks, .job = "1", .port = "29500"};
}

LaunchMode modeOf(uint32_t ranks, const Options &options, const std::optional<LaunchedRank> &place = {}) {
  const Result<LaunchMode> mode = chooseLaunch(ranks, options, place);
  EXPECT_TRUE(mode.ok()) << mode.status().message();
  return mode.ok() ? *mode : LaunchMode::kAlone;
}

std::string errorOf(uint32_t ranks, const Options &options, const std::optional<LaunchedRank> &place = {}) {
  const Result<LaunchMode> mode = chooseLaunch(ranks, options, place);
  EXPECT_EQ(mode.status().exitCode(), 2);
  return mode.status().message();
}

TEST(LaunchMode, OneRank) {
  EXPECT_EQ(modeOf(1, optionsOf({})), LaunchMode::kAlone);
  EXPECT_EQ(modeOf(1, optionsOf(1)), LaunchMode::kAlone);
  LaunchedRank script = startedBy(Launcher::kSrun, 4, 4);
  script.started = false;
  EXPECT_EQ(modeOf(1, optionsOf({}), script), LaunchMode::kAlone);
}

TEST(LaunchMode, ProcessesOfThisHost) {
  EXPECT_EQ(modeOf(4, optionsOf(4)), LaunchMode::kFork);
  LaunchedRank script = startedBy(Launcher::kSrun, 4, 4);
  script.started = false;
  EXPECT_EQ(modeOf(4, optionsOf(4), script), LaunchMode::kFork);
}

TEST(LaunchMode, RanksOfALauncher) {
  EXPECT_EQ(modeOf(4, optionsOf({}), startedBy(Launcher::kTorchrun, 4, 4)), LaunchMode::kJoin);
  EXPECT_EQ(modeOf(4, optionsOf({}), startedBy(Launcher::kSrun, 4, 4)), LaunchMode::kJoin);
  EXPECT_EQ(modeOf(4, optionsOf({}), startedBy(Launcher::kSrun, 4, 2)), LaunchMode::kJob);
  EXPECT_EQ(modeOf(4, optionsOf({}), startedBy(Launcher::kMpirun, 4, 4)), LaunchMode::kJob);
  EXPECT_EQ(modeOf(4, optionsOf({}, "local"), startedBy(Launcher::kMpirun, 4, 4)), LaunchMode::kJoin);
  EXPECT_EQ(modeOf(4, optionsOf({}, "mpi"), startedBy(Launcher::kTorchrun, 4, 4)), LaunchMode::kJob);
}

TEST(LaunchMode, RanksOnGpusMeetAsOthersDo) {
  EXPECT_EQ(modeOf(4, optionsOf(4, "nccl")), LaunchMode::kFork);
  EXPECT_EQ(modeOf(4, optionsOf({}, "nccl"), startedBy(Launcher::kTorchrun, 4, 4)), LaunchMode::kJoin);
  EXPECT_EQ(modeOf(4, optionsOf({}, "nccl"), startedBy(Launcher::kMpirun, 4, 4)), LaunchMode::kJob);
  EXPECT_EQ(modeOf(4, optionsOf({}, "nccl"), startedBy(Launcher::kSrun, 4, 2)), LaunchMode::kJob);
}

TEST(LaunchMode, ADeviceGoesWithThePlan) {
  const auto messageOf = [](std::string_view target, const char *device) {
    Options options = optionsOf(1);
    options.device = device;
    return checkDevice(*findTarget(target), options).message();
  };
  for (const char *device : {"auto", "cuda"})
    EXPECT_EQ(messageOf("cuda", device), "");
  for (const char *device : {"auto", "cpu", "emulated"})
    EXPECT_EQ(messageOf("cpu", device), "");
  EXPECT_EQ(messageOf("cuda", "emulated"),
            "--device=emulated: the plan x.plan is for GPUs: leave the option out, "
            "or compile with --target=cpu");
  EXPECT_EQ(messageOf("cpu", "cuda"), "--device=cuda: the plan x.plan is for CPUs: leave the option out, or "
                                      "compile with --target=cuda");
}

TEST(LaunchMode, RanksOnGpusOfSeveralHostsNeedNoMpi) {
  LaunchedRank place = startedBy(Launcher::kTorchrun, 4, 2);
  EXPECT_THAT(errorOf(4, optionsOf({}, "nccl"), place), HasSubstr("MASTER_ADDR is not set"));
  place.address = "node0";
  EXPECT_EQ(modeOf(4, optionsOf({}, "nccl"), place), LaunchMode::kTcp);
  EXPECT_EQ(modeOf(4, optionsOf({}), place), LaunchMode::kJob);
  place.port = "0";
  EXPECT_THAT(errorOf(4, optionsOf({}, "nccl"), place), HasSubstr("MASTER_PORT is '0'"));
}

TEST(LaunchMode, GpusCommunicateThroughNcclAlone) {
  for (const char *comm : {"auto", "nccl"})
    EXPECT_TRUE(checkComm(*findTarget("cuda"), optionsOf(2, comm)).ok());
  for (const char *comm : {"auto", "local", "mpi"})
    EXPECT_TRUE(checkComm(*findTarget("cpu"), optionsOf(2, comm)).ok());
  EXPECT_EQ(
      checkComm(*findTarget("cuda"), optionsOf(2, "local")).message(),
      "--comm=local: the plan x.plan is for GPUs, which communicate through NCCL: leave the option out, or "
      "compile with --target=cpu");
  EXPECT_EQ(
      checkComm(*findTarget("cpu"), optionsOf(2, "nccl")).message(),
      "--comm=nccl: the plan x.plan is for CPUs, and NCCL moves the memory of GPUs: leave the option out, "
      "or compile with --target=cuda");
}

TEST(LaunchMode, ErrorsSayWhatToDo) {
  EXPECT_EQ(errorOf(4, optionsOf({})), "x.plan: the plan is for 4 ranks: add --nproc-per-node=4, or start it "
                                       "with mpirun, srun or torchrun");
  EXPECT_THAT(errorOf(1, optionsOf(2)), HasSubstr("the plan x.plan is for 1 rank; leave the option out"));
  EXPECT_THAT(errorOf(4, optionsOf(2)), HasSubstr("is for 4 ranks: use --nproc-per-node=4"));
  EXPECT_THAT(errorOf(2, optionsOf(2, "mpi")), HasSubstr("contradict each other"));
  EXPECT_THAT(errorOf(2, optionsOf(2), startedBy(Launcher::kTorchrun, 2, 2)),
              HasSubstr("torchrun started 2 ranks already"));
  EXPECT_THAT(errorOf(4, optionsOf({}), startedBy(Launcher::kTorchrun, 2, 2)),
              HasSubstr("the plan is for 4 ranks, but torchrun started 2"));
  EXPECT_THAT(errorOf(1, optionsOf({}), startedBy(Launcher::kTorchrun, 2, 2)),
              HasSubstr("the plan is for 1 rank, but torchrun started 2"));
  EXPECT_THAT(errorOf(4, optionsOf({}, "local"), startedBy(Launcher::kTorchrun, 4, 2)),
              HasSubstr("need --comm=mpi"));
  LaunchedRank unnamed = startedBy(Launcher::kTorchrun, 2, 2);
  unnamed.job.clear();
  EXPECT_THAT(errorOf(2, optionsOf({}), unnamed), HasSubstr("set MASTER_PORT"));
}

TEST(LaunchMode, WhatAnotherLauncherSaysMayBeWhy) {
  LaunchedRank place = startedBy(Launcher::kTorchrun, 1, 1);
  place.passedOver = "RANK counts";
  EXPECT_THAT(errorOf(4, optionsOf({}), place), HasSubstr("with --ranks=1 (RANK counts)"));
}

TEST(LaunchMode, TorchrunsPortIsChecked) {
  LaunchedRank place = startedBy(Launcher::kTorchrun, 2, 2);
  for (const char *port : {"", "none", "0", "65536", "29500 ", "-1"}) {
    place.port = port;
    EXPECT_THAT(errorOf(2, optionsOf({}), place),
                HasSubstr(fmt::format("MASTER_PORT is '{}'; expected a number from 1 to 65535", port)));
  }
  EXPECT_EQ(modeOf(2, optionsOf({}, "mpi"), place), LaunchMode::kJob);
}

TEST(LaunchMode, APlanNeedsADevice) {
  TargetTraits acme = kDefaultTarget;
  acme.name = "acme";
  EXPECT_EQ(openDevice("auto", acme, DevicePlace()).status().message(),
            "the plan is for target acme, for which this program has no device; compile with --target=cpu");
}

} // namespace
} // namespace trainc
