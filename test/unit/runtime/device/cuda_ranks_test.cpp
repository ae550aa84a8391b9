// ranksPlan() on ranks with an emulated GPU each: collectives of NCCL in the graphs of entries.
#include "base/clock.h"
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/exec/executor.h"
#include "test/unit/plan/plans/cuda_plan.h"
#include "test/unit/runtime/comm/nccl/nccl_ranks.h"
#include "test/unit/runtime/device_memory.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <unistd.h>

namespace trainc::test {
namespace {

using testing::Each;
using testing::HasSubstr;

const Variables kGpus{{"TRAINC_EMULATOR_DEVICES", "4"}};

/// One rank's device and executor.
class GpuRank {
public:
  GpuRank(const fb::Plan &plan, NcclCommunicator &communicator, bool profile = false) {
    auto device = CudaDevice::open({.index = communicator.rank(), .ranks = plan.ranks()}, &communicator);
    EXPECT_TRUE(device.ok()) << device.status().message();
    device_ = std::move(*device);
    auto executor =
        Executor::create(plan, *device_, {.measure = {.profile = profile}, .communicator = &communicator});
    EXPECT_TRUE(executor.ok()) << executor.status().message();
    executor_ = std::move(*executor);
    std::ranges::fill(buffer("w0"), 1.0F);
    std::ranges::fill(buffer("w1"), 2.0F);
    HostCopy<int32_t> c = buffer<int32_t>("c");
    std::ranges::fill(c, static_cast<int32_t>(shapeOf(plan, kShard).placeOf(communicator.rank())));
  }

  Executor &executor() { return *executor_; }
  template <typename T = float> HostCopy<T> buffer(std::string_view name) {
    const auto &buffers = *executor_->plan().buffers();
    for (uint32_t i = 0; i < buffers.size(); ++i)
      if (buffers[i]->name()->string_view() == name)
        return {*device_, executor_->buffer(i)};
    ADD_FAILURE() << "no buffer " << name;
    return {*device_, {}};
  }

private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Executor> executor_;
};

void onGpus(uint32_t ranks, uint32_t shardRanks,
            const std::function<void(GpuRank &, NcclCommunicator &)> &body, bool profile = false) {
  inChild(kGpus, [&] {
    PlanBytes bytes(forCuda(ranksPlan(ranks, shardRanks)).payload());
    const auto plan = bytes.read();
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    onThreads({.grid = {ranks, shardRanks}}, [&](NcclCommunicator &communicator) {
      GpuRank rank(**plan, communicator, profile);
      body(rank, communicator);
    });
  });
}

class CudaRanks : public testing::TestWithParam<std::pair<uint32_t, uint32_t>> {};

TEST_P(CudaRanks, CollectivesAreInTheGraphs) {
  const auto [ranks, shardRanks] = GetParam();
  onGpus(ranks, shardRanks, [&](GpuRank &rank, NcclCommunicator &communicator) {
    float w1 = 2;
    uint64_t sent = 0;
    for (int step = 0; step < 3; ++step) { // Y = 2 w0 + w1, w1 = norm w1
      const float y = 2 + w1, norm = static_cast<float>(kWhole * ranks) * y;
      for (const char *entry : {"micro_step", "update"}) {
        const Status status = rank.executor().run(entry);
        ASSERT_TRUE(status.ok()) << status.message();
      }
      EXPECT_EQ(rank.buffer("norm")[0], norm);
      EXPECT_THAT(rank.buffer("h0"), Each(static_cast<float>(ranks) * (2 + y)));
      EXPECT_THAT(rank.buffer("h1"), Each(static_cast<float>(ranks) * 2 * y));
      EXPECT_THAT(rank.buffer("u"), Each(norm * w1));
      w1 = 1; // small numbers are exact whatever the order
      std::ranges::fill(rank.buffer("w1"), w1);
      if (step == 0)
        sent = communicator.bytesSent();
      EXPECT_EQ(communicator.bytesSent(), sent * static_cast<uint64_t>(step + 1)) << "as in each launch";
    }
    EXPECT_GT(sent, 0U);
    const HostCopy<int32_t> d = rank.buffer<int32_t>("d");
    for (size_t i = 0; i < d.size(); ++i)
      EXPECT_EQ(d[i], static_cast<int32_t>(i / 2)) << i;
  });
}

INSTANTIATE_TEST_SUITE_P(Grids, CudaRanks,
                         testing::Values(std::pair(2U, 2U), std::pair(4U, 2U), std::pair(4U, 4U)));

TEST(CudaRanksAlone, WhatWasPlannedIsAllocated) {
  onGpus(2, 2, [](GpuRank &rank, NcclCommunicator &communicator) {
    uint64_t planned = 0;
    for (const fb::Arena *arena : *rank.executor().plan().arenas())
      planned += arena->bytes();
    EXPECT_EQ(rank.executor().peakBytes(), planned);
    EXPECT_EQ(rank.executor().device().allocatedBytes(), 0U);
    EXPECT_EQ(communicator.allocatedBytes(), planned);
  });
}

TEST(CudaRanksAlone, ProfilesHaveWaits) {
  onGpus(
      2, 2,
      [](GpuRank &rank, NcclCommunicator &) {
        ASSERT_TRUE(rank.executor().run("micro_step").ok());
        const auto rows = rank.executor().profile()->rows;
        const auto wait = std::ranges::find(rows, "wait for all-gather", &ProfileRow::what);
        ASSERT_NE(wait, rows.end());
        EXPECT_EQ(wait->calls, 2U);
        EXPECT_EQ(wait->source, "h.0: dist.all_gather at test.mlir:12");
      },
      /*profile=*/true);
}

/// The hang comes in a graph that holds collectives of several groups.
TEST(CudaRanksAlone, AHangInAGraphIsLeftInTime) {
  Variables variables = kGpus;
  variables["TRAINC_EMULATOR_NCCL"] = "hang:rank=1:collective=12";
  inChild(variables, [] {
    alarm(60); // ends the process if NCCL waits for graphs forever
    PlanBytes bytes(forCuda(ranksPlan(4, 2)).payload());
    const auto plan = bytes.read();
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    onThreads({.grid = {4, 2}, .timeoutSeconds = 1}, [&](NcclCommunicator &communicator) {
      double failedAt = 0;
      {
        GpuRank rank(**plan, communicator);
        Status status;
        int steps = 0;
        for (; status.ok() && steps < 100; ++steps)
          for (const char *entry : {"micro_step", "update"})
            if (status.ok())
              status = rank.executor().run(entry);
        EXPECT_THAT(status.message(), HasSubstr("a device, or a link between two, hangs"));
        EXPECT_GT(steps, 2) << "before there were graphs";
        failedAt = steadySeconds();
      }
      EXPECT_LT(steadySeconds() - failedAt, 2);
    });
  });
}

TEST(CudaRanksAlone, NeedNccl) {
  inChild(kGpus, [] {
    PlanBytes bytes(forCuda(ranksPlan(2, 2)).payload());
    const auto plan = bytes.read();
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    const auto device = CudaDevice::open({});
    ASSERT_TRUE(device.ok()) << device.status().message();
    const auto executor = Executor::create(**plan, **device);
    EXPECT_EQ(executor.status().exitCode(), 2);
    EXPECT_THAT(
        executor.status().message(),
        HasSubstr("entry micro_step, instruction 0 (h.0: dist.all_gather at test.mlir:12): a collective "
                  "of GPUs needs NCCL; start the ranks with --comm=nccl"));
  });
}

} // namespace
} // namespace trainc::test
