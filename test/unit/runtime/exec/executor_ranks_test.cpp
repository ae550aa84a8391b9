// ranksPlan() on ranks that are threads.
#include "runtime/device/cpu/cpu_device.h"
#include "test/unit/plan/plans/plan_builder.h"
#include "test/unit/runtime/asleep.h"
#include "test/unit/runtime/device_memory.h"
#include "test/unit/runtime/exec/allocation_counter.h"
#include "test/unit/runtime/rank_threads.h"
#include "test/unit/runtime/state_of.h"
#include "test/unit/runtime/test_device.h"

#include <algorithm>
#include <atomic>
#include <gmock/gmock.h>
#include <limits>
#include <thread>

namespace trainc::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// The i-th element of the whole tensors.
float first(uint64_t i) { return static_cast<float>(i % 7); }
float second(uint64_t i) { return static_cast<float>(i % 5) - 2; }

/// One rank's executor, its parts of w0 and w1 filled.
class RankRun {
public:
  RankRun(const fb::Plan &plan, Communicator &communicator, ExecutorOptions options = {}) {
    options.communicator = &communicator;
    auto created = Executor::create(plan, *device_, options);
    EXPECT_TRUE(created.ok()) << created.status().message();
    executor_ = std::move(*created);
    place_ = shapeOf(plan, kShard).placeOf(communicator.rank());
    fill("w0", first);
    fill("w1", second);
    HostCopy<int32_t> c = buffer<int32_t>("c");
    std::ranges::fill(c, static_cast<int32_t>(place_));
  }

  Executor &executor() { return *executor_; }
  template <typename T = float> HostCopy<T> buffer(std::string_view name) {
    const auto &buffers = *executor_->plan().buffers();
    for (uint32_t i = 0; i < buffers.size(); ++i)
      if (buffers[i]->name()->string_view() == name)
        return {executor_->device(), executor_->buffer(i)};
    ADD_FAILURE() << "no buffer " << name;
    return {executor_->device(), {}};
  }
  /// The element of the whole tensor that a part begins with.
  uint64_t partBegin() { return place_ * buffer("w0").size(); }

  /// Expects a part to be that of the tensor with elements value(i).
  template <typename Value> void expectPart(std::string_view name, Value value) {
    const HostCopy<float> part = buffer(name);
    for (uint64_t i = 0; i < part.size(); ++i)
      ASSERT_EQ(part[i], value(partBegin() + i)) << name << " " << i;
  }

private:
  template <typename Value> void fill(std::string_view name, Value value) {
    HostCopy<float> part = buffer(name);
    for (uint64_t i = 0; i < part.size(); ++i)
      part[i] = value(partBegin() + i);
  }

  std::unique_ptr<Device> device_ = testDevice();
  std::unique_ptr<Executor> executor_;
  uint64_t place_ = 0;
};

/// Calls `body(run, communicator)` on each rank.
template <typename Body>
void onRankRuns(const PlanBuilder &builder, Body body, ExecutorOptions options = {}) {
  PlanBytes bytes(builder.payload());
  const auto plan = bytes.read();
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  onRanks(**plan, [&](Communicator &communicator) {
    RankRun run(**plan, communicator, options);
    body(run, communicator);
  });
}

class ExecutorRanks : public testing::TestWithParam<std::pair<uint32_t, uint32_t>> {
protected:
  PlanBuilder plan() const { return ranksPlan(GetParam().first, GetParam().second); }
};

TEST_P(ExecutorRanks, CollectivesGiveExpectedNumbers) {
  const auto ranks = static_cast<float>(GetParam().first);
  float norm = 0;
  for (uint64_t i = 0; i < kWhole; ++i)
    norm += ranks * (2 * first(i) + second(i));
  onRankRuns(plan(), [&](RankRun &run, Communicator &) {
    for (const char *entry : {"micro_step", "update"}) {
      const Status status = run.executor().run(entry);
      ASSERT_TRUE(status.ok()) << status.message();
    }
    EXPECT_EQ(run.buffer("norm")[0], norm);
    run.expectPart("h0", [&](uint64_t i) { return ranks * (4 * first(i) + second(i)); });
    run.expectPart("h1", [&](uint64_t i) { return ranks * (4 * first(i) + 2 * second(i)); });
    run.expectPart("w1", [&](uint64_t i) { return norm * second(i); });
    const HostCopy<float> u = run.buffer("u");
    for (uint64_t i = 0; i < kWhole; ++i)
      ASSERT_EQ(u[i], norm * second(i)) << i;
    const auto integers = run.buffer<int32_t>("d");
    ASSERT_EQ(integers.size(), 2 * GetParam().second);
    for (size_t i = 0; i < integers.size(); ++i)
      EXPECT_EQ(integers[i], static_cast<int32_t>(i / 2)) << i;
  });
}

TEST_P(ExecutorRanks, StatesAreTheRanksParts) {
  const uint64_t part = kWhole / GetParam().second;
  onRankRuns(plan(), [&](RankRun &run, Communicator &) {
    const uint64_t begin = run.partBegin(), end = begin + part;
    const auto expectState = [&](std::string_view name, uint64_t offset, uint64_t elements) {
      const StateView state = stateOf(run.executor(), name);
      const uint64_t from = std::max(begin, offset), to = std::min(end, offset + elements);
      ASSERT_EQ(state.memory.bytes, from < to ? (to - from) * 4 : 0) << name;
      if (from >= to)
        return;
      EXPECT_EQ(state.first, from - offset) << name;
      EXPECT_EQ(HostCopy<float>(run.executor().device(), state.memory)[0], first(from)) << name;
    };
    expectState("a", 0, 100);
    expectState("b", 112, 80);
  });
}

TEST_P(ExecutorRanks, WhatWasPlannedIsAllocated) {
  onRankRuns(plan(), [&](RankRun &run, Communicator &communicator) {
    uint64_t planned = 0;
    for (const fb::Arena *arena : *run.executor().plan().arenas())
      planned += arena->bytes();
    EXPECT_EQ(run.executor().peakBytes(), planned);
    EXPECT_EQ(communicator.allocatedBytes(), planned);
  });
}

TEST_P(ExecutorRanks, WaitsAndBytesAreCounted) {
  std::atomic<pid_t> rank1{0};
  onRankRuns(plan(), [&](RankRun &run, Communicator &communicator) {
    const uint64_t before = run.executor().sentBytes();
    const CommunicationSeconds secondsBefore = run.executor().communicationSeconds().value();
    if (communicator.rank() == 1)
      rank1 = ::gettid();
    if (communicator.rank() == 0) {
      while (rank1 == 0)
        std::this_thread::yield();
      waitUntilAsleep(rank1);
    }
    ASSERT_TRUE(run.executor().run("update").ok());
    const CommunicationSeconds seconds = run.executor().communicationSeconds().value() - secondsBefore;
    EXPECT_GT(seconds.inFlight, 0);
    constexpr double kRounding = 1e-9;
    EXPECT_LE(seconds.exposed, seconds.inFlight + kRounding);
    EXPECT_LE(seconds.exposed, seconds.waited + kRounding);
    if (communicator.rank() == 1) {
      EXPECT_GT(seconds.waited, 0) << "for rank 0";
    }
    const uint64_t group = GetParam().second;
    EXPECT_EQ(run.executor().sentBytes() - before, kWhole * 4 * (group - 1) / group + 8 * (group - 1));
  });
}

TEST_P(ExecutorRanks, ProfileHasWaits) {
  onRankRuns(plan(),
             [](RankRun &run, Communicator &) {
               ASSERT_TRUE(run.executor().run("micro_step").ok());
               const auto rows = run.executor().profile()->rows;
               const auto wait = std::ranges::find(rows, "wait for all-gather", &ProfileRow::what);
               ASSERT_NE(wait, rows.end());
               EXPECT_EQ(wait->kind, ProfileKind::Communication);
               EXPECT_EQ(wait->calls, 2U);
               EXPECT_EQ(wait->source, "h.0: dist.all_gather at test.mlir:12");
             },
             {.measure = {.profile = true}});
}

TEST_P(ExecutorRanks, AStepAllocatesNothing) {
  if (!dynamic_cast<CpuDevice *>(testDevice().get()))
    GTEST_SKIP() << "an asynchronous device keeps what waits";
  onRankRuns(plan(), [](RankRun &run, Communicator &communicator) {
    const auto step = [&] {
      for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(run.executor().run("micro_step").ok());
        EXPECT_TRUE(run.executor().run("update").ok());
        EXPECT_FALSE(*run.executor().control().anyStops(false));
      }
    };
    step();
    // Rank 0 counts for the whole process, beginning and ending together with the others.
    EXPECT_TRUE(communicator.barrier().ok());
    const auto counted = [&] {
      EXPECT_TRUE(communicator.barrier().ok());
      step();
      EXPECT_TRUE(communicator.barrier().ok());
    };
    if (communicator.rank() == 0)
      EXPECT_EQ(countAllocations(counted), 0U);
    else
      counted();
    EXPECT_TRUE(communicator.barrier().ok());
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, ExecutorRanks,
                         testing::Values(std::pair(2U, 2U), std::pair(3U, 3U), std::pair(4U, 2U)),
                         [](const auto &info) {
                           return fmt::format("{}by{}", info.param.first, info.param.second);
                         });

TEST(ExecutorRanksFailure, SurvivorsNameInstructionAndSource) {
  onRankRuns(ranksPlan(3, 3), [](RankRun &run, Communicator &communicator) {
    if (communicator.rank() == 1)
      return communicator.fail("its disk is full");
    const Status status = run.executor().run("micro_step");
    EXPECT_EQ(status.exitCode(), 1);
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("entry micro_step, instruction 0 (h.0: dist.all_gather at test.mlir:12): "),
                      HasSubstr("rank 1 failed: its disk is full")));
    EXPECT_TRUE(run.executor().broken());
  });
}

TEST(ExecutorRanksFailure, ARankThatEndsInAStepIsNamed) {
  onRankRuns(ranksPlan(2, 2), [](RankRun &run, Communicator &communicator) {
    ASSERT_TRUE(run.executor().run("micro_step").ok());
    if (communicator.rank() == 1)
      return communicator.fail("it ended");
    EXPECT_THAT(run.executor().run("update").message(),
                AllOf(HasSubstr("entry update, instruction 1"), HasSubstr("rank 1 failed")));
  });
}

TEST(ExecutorRanksFailure, PlansMustBeEqual) {
  PlanBytes bytes(ranksPlan(2, 2).payload());
  onRanks(**bytes.read(), [&](Communicator &communicator) {
    const auto device = testDevice();
    const auto executor = Executor::create(
        **bytes.read(), *device, {.communicator = &communicator, .planChecksum = 7 + communicator.rank()});
    EXPECT_THAT(
        executor.status().message(),
        HasSubstr("plan: expected the same on all ranks, found checksum 0000000000000007 on rank 0 and "
                  "checksum 0000000000000008 on rank 1"));
  });
}

TEST(ExecutorRanksFailure, RanksMustBeAsMany) {
  PlanBytes bytes(ranksPlan(4, 2).payload());
  const fb::Plan &plan = **bytes.read();
  onRanks(plan, 2, [&](Communicator &communicator) {
    const auto device = testDevice();
    const auto executor = Executor::create(plan, *device, {.communicator = &communicator});
    EXPECT_THAT(executor.status().message(), HasSubstr("plan 'test' is for 4 ranks, found 2"));
  });
  const auto device = testDevice();
  auto alone = Executor::create(plan, *device);
  ASSERT_TRUE(alone.ok()) << "to be looked at";
  EXPECT_THAT((*alone)->run("update").message(), HasSubstr("is for 4 ranks, and this is one without peers"));
}

TEST(ExecutorRanksReplay, AllRanksTellTheFirstOfAll) {
  onRankRuns(ranksPlan(3, 3), [](RankRun &run, Communicator &communicator) {
    if (communicator.rank() == 2)
      run.buffer("w1")[5] = std::numeric_limits<float>::infinity();
    const auto found = run.executor().replay("update");
    ASSERT_TRUE(found.ok()) << found.status().message();
    ASSERT_TRUE(found->has_value());
    EXPECT_EQ((*found)->message(),
              "on rank 2, test.op at test.mlir:1 wrote inf to element 5 of 'u' (entry update, "
              "instruction 0 (copy))");
  });
}

TEST(ExecutorRanksReplay, GatheredValuesAreLookedAt) {
  onRankRuns(ranksPlan(3, 3), [](RankRun &run, Communicator &communicator) {
    if (communicator.rank() == 2)
      run.buffer("w0")[5] = std::numeric_limits<float>::quiet_NaN();
    const auto found = run.executor().replay("micro_step");
    ASSERT_TRUE(found.ok() && found->has_value());
    EXPECT_EQ((*found)->message(),
              "on rank 0, h.0: dist.all_gather at test.mlir:12 wrote nan to element 133 of 'W0' "
              "(entry micro_step, instruction 0 (all-gather of 192 f32))");
  });
}

TEST(ExecutorRanksReplay, OfAFiniteEntryFindsNothing) {
  onRankRuns(ranksPlan(2, 2), [](RankRun &run, Communicator &) {
    const auto found = run.executor().replay("micro_step");
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_FALSE(found->has_value());
  });
}

} // namespace
} // namespace trainc::test
