#include "runtime/exec/executor.h"

#include "plan/facts/memory_by_kind.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/null/null_device.h"
#include "test/unit/plan/plans/plan_builder.h"
#include "test/unit/runtime/device_memory.h"
#include "test/unit/runtime/exec/allocation_counter.h"
#include "test/unit/runtime/state_of.h"
#include "test/unit/runtime/test_device.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using testing::HasSubstr;

/// libraryPlan() has no space for cuBLASLt's workspaces, and calls attention.
constexpr const char *kPlanOfCpus = "its library calls are a CPU's; cuda_products_test.cpp has a GPU's";

class ExecutorTest : public testing::Test {
protected:
  void start(const PlanBuilder &builder, ExecutorOptions options = {}) {
    bytes = std::make_unique<PlanBytes>(forTestDevice(builder).payload());
    const auto plan = bytes->read();
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    auto created = Executor::create(**plan, *device, options);
    ASSERT_TRUE(created.ok()) << created.status().message();
    executor = std::move(*created);
  }
  HostCopy<float> weight() { return {*device, stateOf(*executor, "w").memory}; }
  template <typename T> HostCopy<T> buffer(uint32_t index) { return {*device, executor->buffer(index)}; }
  std::optional<NonFinite> replay(std::string_view entry) {
    auto found = executor->replay(entry);
    EXPECT_TRUE(found.ok()) << found.status().message();
    return std::move(*found);
  }
  void fill() {
    HostCopy<float> values = weight();
    std::iota(values.begin(), values.end(), 1.0f);
    executor->write(executor->inputs("micro_step")[0].memory, std::as_bytes(std::span(kTokens)));
  }

  static constexpr int32_t kTokens[] = {3, 0, 15, 99};
  std::unique_ptr<Device> device = testDevice(2);
  std::unique_ptr<PlanBytes> bytes;
  std::unique_ptr<Executor> executor;
};

TEST_F(ExecutorTest, RunsAStep) {
  start(fullPlan());
  fill();
  EXPECT_TRUE(executor->scalars().set("lr", 0.5f));
  EXPECT_TRUE(executor->run("begin_step").ok());
  EXPECT_TRUE(executor->run("micro_step").ok());
  EXPECT_EQ(*executor->scalar("loss", 0.0F), 0.5F);
  EXPECT_EQ(*executor->scalar("finite", 0.0F), 1.0F);
  const auto rows = buffer<float>(4), product = buffer<float>(5), w = weight();
  EXPECT_EQ(rows[0], 1 + 3 * 256);
  EXPECT_EQ(rows[3 * 256], 1 + 15 * 256) << "the kernel clamps its index";
  EXPECT_NEAR(product[16], std::inner_product(w.begin(), w.begin() + 256, w.begin(), 0.0), 8);
}

TEST_F(ExecutorTest, LoopsAdvance) {
  start(fullPlan());
  fill();
  EXPECT_TRUE(executor->run("update").ok());
  const HostCopy<float> w = weight();
  for (size_t i = 0; i < w.size(); ++i)
    ASSERT_EQ(w[i], 2.0f * static_cast<float>(i + 1)) << i;
}

/// Tiles go through one place, which a loop that was cut in two would leave with the last of them.
TEST_F(ExecutorTest, LoopsAreHeldWhole) {
  constexpr uint64_t tile = 256 * 4;
  PlanBuilder builder = fullPlan();
  fb::EntryT &init = *builder.plan.entries[0];
  init.instructions.clear();
  auto &body = builder.loop(init.instructions, 16);
  builder.copy(body, at(0, 0, tile), at(6), tile);
  builder.launch(body, 2, {at(6)});
  builder.copy(body, at(6), at(0, 0, tile), tile);
  start(builder);
  fill();
  int held = 0;
  executor->holdStateWrites([&] { ++held; });
  EXPECT_TRUE(executor->run("init").ok());
  EXPECT_EQ(held, 1);
  const HostCopy<float> w = weight();
  for (size_t i = 0; i < w.size(); ++i)
    ASSERT_EQ(w[i], 2.0f * static_cast<float>(i + 1)) << i;
}

TEST_F(ExecutorTest, InterfaceByName) {
  start(fullPlan());
  EXPECT_TRUE(executor->hasEntry("decode"));
  EXPECT_FALSE(executor->hasEntry("encode"));
  EXPECT_FALSE(executor->scalars().set("seed", uint64_t{1})) << "the plan has no seed";
  EXPECT_EQ(*executor->scalar("grad_norm", -1.0F), -1.0F);
  EXPECT_EQ(executor->states().size(), 1u);
  EXPECT_EQ(stateOf(*executor, "w").memory.bytes, 16384u);
  EXPECT_TRUE(executor->inputs("init").empty());
  EXPECT_EQ(executor->inputs("micro_step")[0].info->limit(), 16u);
}

TEST_F(ExecutorTest, MemoryByKindSumsToThePeak) {
  start(fullPlan());
  const BytesByKind memory = memoryByKind(executor->plan());
  EXPECT_EQ(uint64_t(memory.total()), executor->peakBytes());
  EXPECT_EQ(executor->peakBytes(), device->allocatedBytes());
  EXPECT_EQ(memory.parameters, 16384);
  EXPECT_EQ(memory.gradients, 16384);
}

TEST_F(ExecutorTest, SharedBytesCountOnce) {
  PlanBuilder builder = fullPlan();
  auto shared = std::make_unique<fb::BufferT>(*builder.plan.buffers[6]);
  shared->role = fb::Role::Workspace;
  const uint64_t scratch = builder.plan.arenas[shared->arena]->bytes;
  builder.plan.buffers.push_back(std::move(shared));
  start(builder);
  const BytesByKind memory = memoryByKind(executor->plan());
  EXPECT_EQ(uint64_t(memory.total()), executor->peakBytes());
  EXPECT_EQ(uint64_t(memory.activations), scratch) << "all of the scratch arena";
}

TEST_F(ExecutorTest, ReplayNamesTheFirstNonFiniteWrite) {
  start(fullPlan());
  fill();
  weight()[777] = 0;
  const auto found = replay("micro_step");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->index, 777u);
  EXPECT_TRUE(std::isinf(found->value));
  EXPECT_EQ(found->source->line(), 7u);
  EXPECT_THAT(found->message(),
              HasSubstr("h.0: nn.reciprocal at test.mlir:7 wrote inf to element 777 of 'inverse' "
                        "(entry micro_step, instruction 2 (kernel test_reciprocal))"));
}

TEST_F(ExecutorTest, ReplayLooksAtMatrixProducts) {
  start(fullPlan());
  fill();
  {
    HostCopy<float> w = weight();
    std::fill_n(w.begin() + 256, 256, 3e38f); // finite, but its products are not
  }
  const auto found = replay("micro_step");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->buffer, "product");
  EXPECT_EQ(found->source->line(), 8u);
}

TEST_F(ExecutorTest, ReplayLooksAtLibraryCalls) {
  if (testsOnCuda())
    GTEST_SKIP() << kPlanOfCpus;
  start(libraryPlan());
  {
    HostCopy<float> x(*device, stateOf(*executor, "x").memory), w(*device, stateOf(*executor, "w").memory);
    x[1] = 3e38F;
    w[32 + 5] = 2; // multiplies x[1] in column 5
  }
  const auto found = replay("init");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->index, 5u);
  EXPECT_THAT(found->message(), HasSubstr("(entry init, instruction 0 (matrix product))"));
}

TEST_F(ExecutorTest, ReplayDoesNotLookAtWorkspaces) {
  if (testsOnCuda())
    GTEST_SKIP() << kPlanOfCpus;
  start(libraryPlan());
  {
    constexpr uint32_t kWorkspace = 16;
    HostCopy<float> workspace = buffer<float>(kWorkspace);
    std::ranges::fill(workspace, NAN);
  }
  EXPECT_FALSE(replay("init").has_value());
}

TEST_F(ExecutorTest, ProfilesLibraryCalls) {
  if (testsOnCuda())
    GTEST_SKIP() << kPlanOfCpus;
  start(libraryPlan(), {.measure = {.profile = true}});
  EXPECT_TRUE(executor->run("init").ok());
  const auto rows = executor->profile()->rows;
  const auto product = std::ranges::find(rows, "matrix product", &ProfileRow::what);
  ASSERT_NE(product, rows.end());
  EXPECT_EQ(product->kind, ProfileKind::Gemm);
  EXPECT_EQ(product->calls, 9u);
  // Four of 6 x 32 x 16, two of half that, one of 16 x 32 x 6, and two of three matrices of 2 x 4 x 16.
  EXPECT_EQ(product->flops, 2.0 * (4 * 6 * 32 * 16 + 2 * 6 * 16 * 16 + 16 * 32 * 6 + 2 * 3 * 2 * 4 * 16));
  const auto gradient = std::ranges::find(rows, "gradient of attention", &ProfileRow::what);
  ASSERT_NE(gradient, rows.end());
  EXPECT_EQ(gradient->kind, ProfileKind::Attention);
  EXPECT_EQ(gradient->flops, 2.0 * 2 * 2 * 6 * (3 * 8 + 2 * 8));
}

TEST_F(ExecutorTest, ReplayNamesTheIteration) {
  start(fullPlan());
  fill();
  weight()[5 * 256 + 9] = 3e38f;
  const auto found = replay("update");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->index, 9u);
  EXPECT_THAT(found->message(), HasSubstr("iteration 5"));
}

TEST_F(ExecutorTest, ReplayBlamesNobodyForWhatAStepLeftBehind) {
  constexpr uint32_t kGather = 3;
  PlanBuilder builder = fullPlan();
  builder.plan.kernels[kGather]->grid =
      2; // writes two of its four rows, as the first part of a concatenation
  start(builder);
  fill();
  buffer<float>(4)[3 * 256] = NAN;
  EXPECT_FALSE(replay("micro_step").has_value());
}

TEST_F(ExecutorTest, ReplayOfAFiniteEntryFindsNothing) {
  start(fullPlan());
  fill();
  EXPECT_FALSE(replay("micro_step").has_value());
}

TEST_F(ExecutorTest, ProfileCountsEveryInstruction) {
  start(fullPlan(), {.measure = {.profile = true}});
  fill();
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(executor->run("micro_step").ok());
  EXPECT_TRUE(executor->run("update").ok());
  const auto rows = executor->profile()->rows;
  const auto calls = [&](std::string_view what) {
    uint64_t sum = 0;
    for (const ProfileRow &row : rows)
      sum += row.what == what ? row.calls : 0;
    return sum;
  };
  EXPECT_EQ(calls("test_gather"), 3u);
  EXPECT_EQ(calls("test_double"), 16u);
  EXPECT_EQ(calls("copy"), 1u);
  ASSERT_EQ(calls("test_matmul"), 3u);
  const auto product = std::ranges::find(rows, "test_matmul", &ProfileRow::what);
  EXPECT_EQ(product->kind, ProfileKind::Gemm);
  EXPECT_EQ(product->flops, 3 * 2.0 * 4 * 16 * 256);
  EXPECT_EQ(product->source, "h.1: nn.matmul at test.mlir:8");
  EXPECT_GT(product->gigaflopsPerSecond(), 0);
}

TEST_F(ExecutorTest, AStepAllocatesNothing) {
  if (!dynamic_cast<CpuDevice *>(device.get()))
    GTEST_SKIP() << "an asynchronous device keeps what waits";
  for (const bool profile : {false, true}) {
    start(fullPlan(), {.measure = {.profile = profile}});
    fill();
    const auto step = [&] {
      executor->scalars().set("lr", 0.5f);
      for (const char *entry :
           {"begin_step", "micro_step", "micro_step", "update", "eval", "prefill", "decode"})
        EXPECT_TRUE(executor->run(entry).ok());
      EXPECT_TRUE(executor->scalar("loss", 0.0F).ok());
    };
    step();
    // A worker thread may come late, and a sanitizer allocates for it then; but not in each run.
    EXPECT_EQ(std::min({countAllocations(step), countAllocations(step), countAllocations(step)}), 0u);
  }
}

TEST(AllocationCounter, CountsNewAndMalloc) {
  EXPECT_EQ(countAllocations([] { delete new std::string(100, 'x'); }), 2u);
  EXPECT_EQ(countAllocations([] {}), 0u);
}

TEST(ExecutorDryRun, RunsOnTheNullDevice) {
  PlanBytes bytes(fullPlan().payload());
  NullDevice device;
  auto executor = Executor::create(**bytes.read(), device);
  ASSERT_TRUE(executor.ok());
  for (const char *entry : {"init", "begin_step", "micro_step", "update", "eval"})
    EXPECT_TRUE((*executor)->run(entry).ok());
  EXPECT_EQ(*(*executor)->scalar("finite", 1.0F), 0.0F) << "nothing was computed";
  CpuDevice cpu(1);
  EXPECT_EQ((*executor)->peakBytes(), (*Executor::create(**bytes.read(), cpu))->peakBytes());
}

} // namespace
} // namespace trainc::test
