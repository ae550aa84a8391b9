// Errors when a rank dies, hangs or cannot take part, and their delay.
#include "base/clock.h"
#include "test/unit/runtime/comm/nccl/nccl_ranks.h"

#include <gmock/gmock.h>

namespace trainc {
namespace {

using test::GpuValues;
using test::inChild;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

constexpr double kTimeout = 1;

/// All-reduces until one fails, and how long that one took.
struct Loop {
  Status status;
  double seconds = 0;
  uint32_t done = 0;
};

Loop reduceUntilItFails(NcclCommunicator &communicator) {
  const GpuValues<float> values(communicator, std::vector<float>(100, 0));
  (void)communicator.barrier(); // where a rank has failed since, the loop says so
  const CollectiveRange range{values.address(), values.address(), 100, fb::DType::F32};
  const Collective collective{.kind = MeetingKind::kAllReduce, .ranges = std::span(&range, 1)};
  const Result<CudaStream> stream = makeCudaStream(0);
  Loop loop;
  for (loop.done = 0; loop.done < 100; ++loop.done) {
    const double begin = steadySeconds();
    loop.status = communicator.enqueue(collective, stream->get(), "update, instruction 7 (gpt.mlir:12)");
    if (loop.status.ok())
      loop.status = test::synchronise(communicator, stream->get());
    loop.seconds = steadySeconds() - begin;
    if (!loop.status.ok())
      break;
  }
  communicator.abort(); // ends all work in flight
  EXPECT_TRUE(driver().cuStreamSynchronize(stream->get()).ok());
  return loop;
}

constexpr const char *kWhere =
    ": update, instruction 7 (gpt.mlir:12): all-reduce of 100 f32 cannot be completed: ";

TEST(NcclFailure, ADeviceThatHangsEndsAllInTime) {
  inChild({{"TRAINC_EMULATOR_DEVICES", "3"}, {"TRAINC_EMULATOR_NCCL", "hang:rank=1:collective=5"}}, [] {
    test::onThreads({.grid = {3, 1}, .timeoutSeconds = kTimeout}, [](NcclCommunicator &communicator) {
      const Loop loop = reduceUntilItFails(communicator);
      EXPECT_EQ(loop.done, 4);
      EXPECT_LT(loop.seconds, 5);
      EXPECT_THAT(loop.status.message(),
                  AllOf(HasSubstr(fmt::format("rank {}{}", communicator.rank(), kWhere)),
                        HasSubstr("no rank is known to have failed: all have waited for 1.5 s, so a device, "
                                  "or a link between "
                                  "two, hangs")));
    });
  });
}

TEST(NcclFailure, AProcessThatDiesIsNamedByWhoSeesIt) {
  inChild({{"TRAINC_EMULATOR_DEVICES", "3"}, {"TRAINC_EMULATOR_NCCL", "die:rank=1:collective=5"}}, [] {
    test::onProcesses({.grid = {3, 1}}, /*supervised=*/true, [](NcclCommunicator &communicator) {
      const Loop loop = reduceUntilItFails(communicator);
      EXPECT_LT(loop.seconds, 5);
      // The news may come before this rank has begun the collective.
      EXPECT_THAT(loop.status.message(),
                  AllOf(HasSubstr(fmt::format("rank {}: ", communicator.rank())),
                        HasSubstr("cannot be completed: rank 1 failed: killed by signal 9")));
    });
  });
}

TEST(NcclFailure, AProcessThatDiesUnseenIsNamedAfterTheTimeout) {
  inChild({{"TRAINC_EMULATOR_DEVICES", "3"}, {"TRAINC_EMULATOR_NCCL", "die:rank=1:collective=5"}}, [] {
    test::onProcesses({.grid = {3, 1}, .timeoutSeconds = kTimeout}, /*supervised=*/false,
                      [](NcclCommunicator &communicator) {
                        const Loop loop = reduceUntilItFails(communicator);
                        EXPECT_LT(loop.seconds, 5);
                        EXPECT_THAT(
                            loop.status.message(),
                            HasSubstr(fmt::format(
                                "rank {}{}rank 1 failed: it did not arrive within 1 s: it has died, hangs "
                                "or is stopped",
                                communicator.rank(), kWhere)));
                      });
  });
}

TEST(NcclFailure, ARankThatGivesUpEndsTheOthers) {
  inChild({{"TRAINC_EMULATOR_DEVICES", "2"}}, [] {
    test::onThreads({.grid = {2, 1}}, [](NcclCommunicator &communicator) {
      if (communicator.rank() == 1) {
        (void)GpuValues<float>(communicator, 100); // as the other does
        ASSERT_TRUE(communicator.barrier().ok());
        return communicator.fail("no space left on device");
      }
      const Loop loop = reduceUntilItFails(communicator);
      EXPECT_LT(loop.seconds, 5);
      EXPECT_THAT(loop.status.message(), HasSubstr("rank 1 failed: no space left on device"));
      EXPECT_THAT(communicator.poll().message(), HasSubstr("rank 1 failed: no space left on device"));
    });
  });
}

/// Nobody else could tell why.
TEST(NcclFailure, AnErrorOfTheRanksOwnIsToldAtOnce) {
  inChild({{"TRAINC_EMULATOR_DEVICES", "2"}, {"TRAINC_EMULATOR_FAULT", "ncclAllReduce:3=ncclInvalidUsage"}},
          [] {
            test::onThreads({.grid = {2, 1}}, [](NcclCommunicator &communicator) {
              const Loop loop = reduceUntilItFails(communicator);
              EXPECT_LT(loop.seconds, 0.9);
              EXPECT_THAT(loop.status.message(), HasSubstr("ncclAllReduce: invalid usage (emulated)"));
            });
          });
}

/// Expects an error of create() on all ranks.
void expectRefusal(const test::Variables &variables, const std::string &text, uint32_t devices = 2) {
  test::Variables all = variables;
  all["TRAINC_EMULATOR_DEVICES"] = std::to_string(devices);
  inChild(all, [&] {
    test::onThreads({.grid = {2, 1}}, [&](uint32_t, Result<std::unique_ptr<NcclCommunicator>> made) {
      ASSERT_FALSE(made.ok());
      EXPECT_THAT(made.status().message(), HasSubstr(text));
    });
  });
}

TEST(NcclFailure, AnOldNcclIsRefused) {
  expectRefusal({{"TRAINC_EMULATOR_NCCL_VERSION", "22703"}},
                "expected NCCL 2.28.0 or newer, found 2.27.3; install");
}

constexpr const char *kOnOneGpu =
    "ranks 0 and 1 are on one GPU: expected a GPU for each, found 1 that a rank sees; let ranks see more "
    "(CUDA_VISIBLE_DEVICES), or start fewer ranks on this host, for which the model is compiled with a "
    "smaller "
    "--ranks. To share a GPU, which is experimental, takes NCCL 2.30.0 or newer (found ";

TEST(NcclFailure, ASharedGpuNeedsANewNccl) {
  expectRefusal({{"TRAINC_EMULATOR_NCCL_VERSION", "22903"}, {"NCCL_MULTI_RANK_GPU_ENABLE", "1"}},
                std::string(kOnOneGpu) + "2.29.3) and NCCL_MULTI_RANK_GPU_ENABLE=1 (set)", 1);
}

TEST(NcclFailure, ASharedGpuNeedsAWord) {
  expectRefusal({{"TRAINC_EMULATOR_NCCL_VERSION", "23001"}},
                std::string(kOnOneGpu) + "2.30.1) and NCCL_MULTI_RANK_GPU_ENABLE=1 (not set)", 1);
}

TEST(NcclFailure, AGpuIsSharedWhereAsked) {
  inChild({{"TRAINC_EMULATOR_NCCL_VERSION", "23001"},
           {"NCCL_MULTI_RANK_GPU_ENABLE", "1"},
           {"TRAINC_EMULATOR_DEVICES", "1"}},
          [] {
            test::onProcesses({.grid = {2, 1}}, /*supervised=*/true, [](NcclCommunicator &communicator) {
              const GpuValues<float> values(communicator, std::vector<float>(10, 2));
              const Status status = test::run(communicator, test::kAllReduce,
                                              {values.address(), values.address(), 10, fb::DType::F32});
              EXPECT_TRUE(status.ok()) << status.message();
              EXPECT_EQ(values.read(), std::vector<float>(10, 4));
            });
          });
}

TEST(NcclFailure, WhereOneRankCannotConnectAllHear) {
  inChild({{"TRAINC_EMULATOR_DEVICES", "2"},
           {"TRAINC_EMULATOR_FAULT", "ncclCommInitRankConfig:2=ncclSystemError"}},
          [] {
            test::onThreads({.grid = {2, 1}}, [](uint32_t, Result<std::unique_ptr<NcclCommunicator>> made) {
              ASSERT_FALSE(made.ok());
              EXPECT_THAT(made.status().message(),
                          HasSubstr("ncclCommInitRankConfig: unhandled system error (emulated)"));
            });
          });
}

TEST(NcclFailure, MemoryThatIsNotThereIsSaid) {
  inChild({{"TRAINC_EMULATOR_DEVICES", "1"}, {"TRAINC_EMULATOR_MEMORY", "16777216"}}, [] {
    test::onThreads({.grid = {1, 1}}, [](NcclCommunicator &communicator) {
      const Result<DeviceAddress> memory = communicator.allocate("the arena", uint64_t{1} << 30);
      ASSERT_FALSE(memory.ok());
      EXPECT_THAT(memory.status().message(),
                  HasSubstr("cannot allocate 1073741824 bytes for 'the arena' on rank 0: ncclMemAlloc"));
    });
  });
}

TEST(NcclFailure, PlansThatDifferAreNamed) {
  inChild({{"TRAINC_EMULATOR_DEVICES", "2"}}, [] {
    test::onThreads({.grid = {2, 1}, .timeoutSeconds = kTimeout}, [](NcclCommunicator &communicator) {
      const GpuValues<float> values(communicator, std::vector<float>(100, 0));
      const Status status =
          test::run(communicator, test::kAllReduce,
                    {values.address(), values.address(), 100 - communicator.rank(), fb::DType::F32});
      EXPECT_FALSE(status.ok());
    });
  });
}

} // namespace
} // namespace trainc
