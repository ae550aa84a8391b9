// A GPU as a device, on the emulated driver: memory, copies, entries as graphs, profiles.
#include "runtime/exec/executor.h"
#include "test/unit/plan/plans/cuda_plan.h"
#include "test/unit/runtime/device/device_contract.h"
#include "test/unit/runtime/device/first_gpu.h"
#include "test/unit/runtime/device_memory.h"
#include "test/unit/runtime/state_of.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <numeric>
#include <sys/resource.h>
#include <thread>

namespace trainc::test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Cuda, DeviceTest, testing::Values(firstGpu));

class CudaDeviceTest : public testing::Test {
protected:
  void start(const PlanBuilder &builder, ExecutorOptions options = {}) {
    bytes = std::make_unique<PlanBytes>(builder.payload());
    const auto plan = bytes->read();
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    auto created = Executor::create(**plan, *device, options);
    ASSERT_TRUE(created.ok()) << created.status().message();
    executor = std::move(*created);
  }
  Status refused(const PlanBuilder &builder) {
    PlanBytes file(builder.payload());
    const auto plan = file.read();
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    return device->loadKernels(**plan);
  }
  HostCopy<float> weight() { return {*device, stateOf(*executor, "w").memory}; }
  void fill() {
    HostCopy<float> values = weight();
    std::iota(values.begin(), values.end(), 1.0F);
  }
  void run(std::string_view entry) {
    const Status status = executor->run(entry);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  std::unique_ptr<Device> device = firstGpu();
  std::unique_ptr<PlanBytes> bytes;
  std::unique_ptr<Executor> executor;
};

TEST_F(CudaDeviceTest, DescribesItself) {
  start(forCuda(fullPlan()));
  EXPECT_THAT(device->description(), AllOf(HasSubstr("cuda 0 ("), HasSubstr("compute_80"),
                                           HasSubstr("driver for CUDA 13."), HasSubstr("MiB beside arenas")));
  EXPECT_THAT(device->arithmetic(), HasSubstr("compute_80"));
  EXPECT_EQ(executor->peakBytes(), device->allocatedBytes());
  EXPECT_EQ(device->blockMemory().together(), 0U);
}

/// As the executor's own tests, on the device's kernels.
TEST_F(CudaDeviceTest, RunsKernelsInTheirOrder) {
  start(forCuda(fullPlan()));
  fill();
  constexpr int32_t tokens[] = {3, 0, 15, 99};
  executor->write(executor->inputs("micro_step")[0].memory, std::as_bytes(std::span(tokens)));
  EXPECT_TRUE(executor->scalars().set("lr", 0.5F));
  run("micro_step");
  EXPECT_EQ(*executor->scalar("loss", 0.0F), 0.5F);
  EXPECT_EQ(HostCopy<float>(*device, executor->buffer(4))[3 * 256], 1 + 15 * 256);
  for (int repetition = 0; repetition < 3; ++repetition)
    run("update");
  const HostCopy<float> w = weight();
  for (size_t i = 0; i < w.size(); ++i)
    ASSERT_EQ(w[i], 8.0F * static_cast<float>(i + 1)) << "a loop in a graph, launched three times: " << i;
}

/// A range that a checkpoint cuts is a graph of its own.
TEST_F(CudaDeviceTest, RunsRangesOfSteps) {
  start(forCuda(fullPlan()));
  fill();
  int held = 0;
  executor->holdStateWrites([&] { ++held; });
  run("init");
  EXPECT_EQ(held, 1);
  EXPECT_THAT(weight(), Each(0.0F));
}

TEST_F(CudaDeviceTest, EnqueuesSeveralStepsAtOnce) {
  start(forCuda(fullPlan()));
  fill();
  std::vector<float> losses(20);
  for (size_t i = 0; i < losses.size(); ++i) {
    EXPECT_TRUE(executor->scalars().set("lr", static_cast<float>(i)));
    ASSERT_TRUE(executor->enqueue("micro_step").ok());
    device->read(std::as_writable_bytes(std::span(&losses[i], 1)), executor->buffer(9).address);
  }
  ASSERT_TRUE(executor->synchronise().ok());
  for (size_t i = 0; i < losses.size(); ++i)
    EXPECT_EQ(losses[i], static_cast<float>(i));
}

/// Copies to the host, to disk and back concurrently with kernels, ordered only by the plan's edges.
TEST_F(CudaDeviceTest, KeepsTheOrderOfStreams) {
  start(forCuda(spacesPlan()));
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::ranges::fill(weight(), 4.0F);
    run("init");
    ASSERT_THAT(weight(), Each(0.5F)) << "repetition " << repetition;
  }
}

/// On several threads, and in a graph, after the copy of its inputs.
TEST_F(CudaDeviceTest, RunsKernelsOfTheHost) {
  start(hostKernelsPlan());
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::ranges::fill(weight(), 4.0F);
    run("init");
    ASSERT_THAT(weight(), Each(2.0F)) << "repetition " << repetition;
  }
}

/// The limit of a file's size stands for a full disk. The run after the first is a graph.
TEST_F(CudaDeviceTest, ADiskThatFailsInAGraphEndsTheRun) {
  start(forCuda(spacesPlan()));
  run("init");
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit full{.rlim_cur = 0, .rlim_max = before.rlim_max};
  const auto signalled = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &full);
  const Status status = executor->run("init");
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, signalled);
  EXPECT_EQ(status.exitCode(), 1);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("entry init, instruction 2"), HasSubstr("arena 'disk'")));
  EXPECT_EQ(executor->run("init").exitCode(), 1) << "nothing runs after a fault";
}

TEST_F(CudaDeviceTest, CopiesMoreThanItsStagesHold) {
  constexpr uint64_t count = (uint64_t{40} << 20) / sizeof(uint32_t) + 3;
  std::vector<uint32_t> numbers(count), there(count), beside(count);
  std::iota(numbers.begin(), numbers.end(), 7U);
  const DeviceAddress address = *device->allocate("large", fb::Space::Device, count * 4, nullptr);
  device->write(address, std::as_bytes(std::span(numbers)));
  device->read(std::as_writable_bytes(std::span(there)), address);
  ASSERT_TRUE(device->synchronise().ok());
  EXPECT_TRUE(there == numbers);
  Status status;
  std::thread([&] {
    status = device->readBeside(std::as_writable_bytes(std::span(beside)), address);
  }).join();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(beside == numbers);
}

TEST_F(CudaDeviceTest, ScratchIsZeroedUnlessAskedOtherwise) {
  const auto readScratch = [&] {
    std::array<float, 4> values{1, 1, 1, 1};
    const DeviceAddress address = *device->allocateScratch("scratch", sizeof values, nullptr);
    device->read(std::as_writable_bytes(std::span(values)), address);
    return std::pair(device->synchronise(), values);
  };
  const auto [status, values] = readScratch();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(values, Each(0.0F));
  if (!isEmulated(*device))
    GTEST_SKIP() << "a GPU does not know what was written";
  setenv("TRAINC_UNWRITTEN_SCRATCH", "1", 1);
  EXPECT_FALSE(readScratch().first.ok());
  unsetenv("TRAINC_UNWRITTEN_SCRATCH");
}

TEST_F(CudaDeviceTest, ReadsOfScratchThatNobodyWroteAreFound) {
  if (!isEmulated(*device))
    GTEST_SKIP() << "a GPU does not know what was written";
  PlanBytes file(forCuda(fullPlan()).payload());
  const auto plan = file.read();
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_TRUE(device->loadKernels(**plan).ok());
  setenv("TRAINC_UNWRITTEN_SCRATCH", "1", 1);
  std::vector<DeviceAddress> arenas, buffers;
  for (const fb::Arena *arena : *(*plan)->arenas())
    arenas.push_back(*(arena->persistent()
                           ? device->allocate("persistent", arena->space(), arena->bytes(), nullptr)
                           : device->allocateScratch("scratch", arena->bytes(), nullptr)));
  unsetenv("TRAINC_UNWRITTEN_SCRATCH");
  for (const fb::Buffer *buffer : *(*plan)->buffers())
    buffers.push_back(arenas[buffer->arena()] + buffer->offset());
  const auto entry = std::ranges::find_if(
      *(*plan)->entries(), [](const fb::Entry *each) { return each->name()->string_view() == "micro_step"; });
  auto executable = device->prepare(resolveProgram(**plan, **entry, 0, buffers), nullptr, nullptr);
  ASSERT_TRUE(executable.ok()) << executable.status().message();
  device->enqueue(**executable, {1, 2}); // the product, without the gather of its rows
  EXPECT_THAT(device->synchronise().message(), HasSubstr("CUDA_ERROR_LAUNCH_FAILED"));
}

TEST_F(CudaDeviceTest, WritesTakeTheSourceAtOnce) {
  const DeviceAddress address = *device->allocate("test", fb::Space::Device, 4, nullptr);
  float value = 3;
  device->write(address, std::as_bytes(std::span(&value, 1)));
  value = 4; // more than specified
  device->read(std::as_writable_bytes(std::span(&value, 1)), address);
  ASSERT_TRUE(device->synchronise().ok());
  EXPECT_EQ(value, 3);
}

TEST_F(CudaDeviceTest, GivesMuchSharedMemoryAtTheLaunch) {
  PlanBuilder builder = forCuda(PlanBuilder());
  const uint32_t out = builder.buffer("out", PlanBuilder::kScratch, fb::DType::I32, 64);
  const uint32_t kernel = builder.kernel("test_block_memory", 64, {{fb::Access::Write, fb::DType::I32, 256}});
  builder.plan.kernels[kernel]->threads = 256;
  builder.plan.kernels[kernel]->shared_bytes = 64 << 10;
  builder.launch(builder.entry("init").instructions, kernel, {at(out)});
  start(builder);
  run("init");
  const HostCopy<int32_t> tiles(*device, executor->buffer(out));
  for (int32_t tile = 0; tile < 64; ++tile)
    EXPECT_EQ(tiles[static_cast<size_t>(tile)], tile);
}

TEST_F(CudaDeviceTest, ReplaysStepByStep) {
  start(forCuda(fullPlan()));
  fill();
  weight()[777] = 0;
  const auto found = executor->replay("micro_step");
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_TRUE(found->has_value());
  EXPECT_THAT((*found)->message(), HasSubstr("h.0: nn.reciprocal at test.mlir:7 wrote inf to element 777"));
}

TEST_F(CudaDeviceTest, TellsTimesOfSteps) {
  start(forCuda(spacesPlan()), {.measure = {.profile = true}});
  std::ranges::fill(weight(), 4.0F);
  run("init");
  run("init");
  EXPECT_THAT(weight(), Each(4.0F));
  const std::vector<ProfileRow> rows = executor->profile()->rows;
  const auto calls = [&](std::string_view what) {
    const auto row = std::ranges::find(rows, what, &ProfileRow::what);
    return row == rows.end() ? 0 : row->calls;
  };
  EXPECT_EQ(calls("test_reciprocal"), 4U);
  EXPECT_EQ(calls("test_add"), 2U);
  for (const char *copy : {"copy from device to host", "copy from host to device", "copy from device to disk",
                           "copy from disk to device"})
    EXPECT_EQ(calls(copy), 2U) << copy;
}

TEST_F(CudaDeviceTest, RefusesAPlanForCpus) {
  const Status status = refused(fullPlan());
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_EQ(status.message(),
            "plan 'test' is for cpu, and this is a GPU; run it with --device=cpu, or compile "
            "the model with --target=cuda");
}

TEST_F(CudaDeviceTest, PrefersMachineCodeAndFallsBackToPtx) {
  PlanBuilder builder = forCuda(fullPlan());
  auto &cubin = builder.plan.objects.emplace_back(std::make_unique<fb::ObjectT>(*builder.plan.objects[0]));
  cubin->level = "sm_90"; // which the emulated driver rejects, as one without it does
  cubin->image = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0};
  cubin->image.resize(64);
  start(builder);
  EXPECT_THAT(device->description(), HasSubstr("compute_80"));
  builder.plan.objects.erase(builder.plan.objects.begin());
  const Status status = refused(builder);
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("the plan holds code for sm_90, and GPU 0"),
                                      HasSubstr("is of compute capability 9.0")));
}

TEST_F(CudaDeviceTest, NamesAMissingKernel) {
  PlanBuilder builder = forCuda(fullPlan());
  builder.plan.kernels[0]->symbol = "absent_kernel";
  EXPECT_EQ(refused(builder).message(),
            "the plan's code for compute_80 lacks kernel absent_kernel; compile the model again");
}

/// With other parameters, the driver would read undefined addresses.
TEST_F(CudaDeviceTest, NamesAKernelOfOtherParameters) {
  constexpr size_t kAdd = 0, kReciprocal = 1, kGather = 3;
  PlanBuilder fewer = forCuda(fullPlan()), more = forCuda(fullPlan());
  std::swap(fewer.plan.kernels[kAdd]->symbol, fewer.plan.kernels[kReciprocal]->symbol);
  std::swap(more.plan.kernels[kReciprocal]->symbol, more.plan.kernels[kGather]->symbol);
  const Status status = refused(fewer);
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_EQ(status.message(), "kernel test_reciprocal: expected code with the plan's 3 parameters, found 2; "
                              "compile the model again");
  EXPECT_EQ(refused(more).message(), "kernel test_gather: expected code with the plan's 2 parameters, found "
                                     "3; compile the model again");
}

TEST_F(CudaDeviceTest, NamesAKernelWhoseParametersAreNoAddresses) {
  PlanBuilder builder = forCuda(fullPlan());
  std::vector<uint8_t> &image = builder.plan.objects[0]->image;
  std::string text(image.begin(), image.end());
  const size_t at = text.find(".param .u64 y");
  ASSERT_NE(at, text.npos);
  text.replace(at, 11, ".param .u32");
  image.assign(text.begin(), text.end());
  EXPECT_THAT(refused(builder).message(), HasSubstr("kernel test_add: expected code whose parameters are "
                                                    "addresses of 8 bytes, found parameter 1 of 4"));
}

/// Code may fix how many threads blocks have. The launch of others is rejected.
TEST_F(CudaDeviceTest, NamesTheLaunchOfBlocksThatTheCodeDoesNotTake) {
  for (const uint32_t threads : {256, 128}) {
    PlanBuilder builder = forCuda(fullPlan());
    std::vector<uint8_t> &image = builder.plan.objects[0]->image;
    std::string text(image.begin(), image.end());
    const size_t body = text.find('{', text.find(".entry test_gather("));
    ASSERT_NE(body, text.npos);
    text.insert(body, ".reqntid 256 ");
    image.assign(text.begin(), text.end());
    for (const auto &kernel : builder.plan.kernels)
      if (kernel->symbol == "test_gather")
        kernel->threads = threads;
    start(builder);
    fill();
    const Status status = executor->run("micro_step");
    EXPECT_EQ(status.ok(), threads == 256) << status.message();
    if (!status.ok())
      EXPECT_THAT(status.message(), AllOf(HasSubstr("entry micro_step, instruction "),
                                          HasSubstr("cuLaunchKernel: CUDA_ERROR_INVALID_VALUE")));
  }
}

TEST_F(CudaDeviceTest, ShowsWhatThePtxCompilerSays) {
  PlanBuilder builder = forCuda(fullPlan());
  const std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry broken( {";
  builder.plan.objects[0]->image.assign(text.c_str(), text.c_str() + text.size() + 1);
  const Status status = refused(builder);
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("the plan's code for compute_80: cuModuleLoadDataEx: "
                                                "CUDA_ERROR_INVALID_PTX"),
                                      HasSubstr("compile the model again")));
}

TEST_F(CudaDeviceTest, NamesTheEntryOfAFault) {
  PlanBuilder builder = forCuda(fullPlan());
  const uint32_t kernel = builder.kernel("test_fault", 1, {{fb::Access::Read, fb::DType::F32, 4}});
  builder.launch(builder.plan.entries[2]->instructions, kernel, {at(0)});
  start(builder);
  fill();
  const Status status = executor->run("micro_step");
  EXPECT_EQ(status.exitCode(), 1);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("while entry micro_step ran: "), HasSubstr("CUDA_ERROR_"),
                                      HasSubstr("compute-sanitizer")));
  EXPECT_EQ(executor->run("begin_step").message(), status.message()) << "nothing runs any more";
}

TEST_F(CudaDeviceTest, NamesTheStepOfAFault) {
  PlanBuilder builder = forCuda(fullPlan());
  const uint32_t kernel = builder.kernel("test_fault", 1, {{fb::Access::Read, fb::DType::F32, 4}});
  builder.launch(builder.plan.entries[2]->instructions, kernel, {at(0)});
  start(builder);
  fill();
  const auto found = executor->replay("micro_step");
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.status().message(),
              HasSubstr("entry micro_step, instruction 4 (test.op at test.mlir:1): "));
}

} // namespace
} // namespace trainc::test
