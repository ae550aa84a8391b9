// Tests of the device contract, for the CPU with several numbers of threads and for the emulated device; and
// tests of the CPU device.
#include "base/cpu_features.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/cpu/kernel_library.h"
#include "runtime/device/emulated/emulated_device.h"
#include "runtime/device/null/null_device.h"
#include "test/unit/plan/plans/cuda_plan.h"
#include "test/unit/plan/plans/plan_builder.h"
#include "test/unit/runtime/device/device_contract.h"

#include <cmath>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <gmock/gmock.h>
#include <string>
#include <sys/resource.h>

namespace trainc::test {
namespace {

using testing::HasSubstr;

template <unsigned threads> std::unique_ptr<Device> cpu() { return std::make_unique<CpuDevice>(threads); }
template <uint64_t seed> std::unique_ptr<Device> emulated() {
  return std::make_unique<EmulatedDevice>(2, seed);
}

INSTANTIATE_TEST_SUITE_P(Cpu, DeviceTest, testing::Values(cpu<1>, cpu<2>, cpu<5>));
INSTANTIATE_TEST_SUITE_P(Emulated, DeviceTest, testing::Values(emulated<1>, emulated<2>));

/// Bytes of the mapping at an address that may be written.
uint64_t mappedBytes(DeviceAddress address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uint64_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx rw", &begin, &end) == 2 && begin == address.value())
      return end - begin;
  }
  return 0;
}

TEST(CpuDevice, ArenasMayLieInHugePages) {
  CpuDevice device(1);
  EXPECT_EQ((*device.allocate("test", fb::Space::Device, (3 << 20) + 5, nullptr)).value() % (2 << 20), 0u);
}

TEST(CpuDevice, CountsWhatItAllocates) {
  CpuDevice device(1);
  const auto allocate = [&](std::string_view name, uint64_t bytes) {
    return device.allocate(name, fb::Space::Device, bytes, nullptr);
  };
  constexpr uint64_t page = 4096;
  EXPECT_EQ(device.allocatedBytes(), 0u);
  const DeviceAddress first = *allocate("first", 5 * page);
  EXPECT_EQ(device.allocatedBytes(), mappedBytes(first));
  const DeviceAddress second = *allocate("second", 2 * page + 5);
  EXPECT_EQ(device.allocatedBytes() + page - 5, mappedBytes(first) + mappedBytes(second));
}

/// Few tiles, often: threads that are late must not disturb the next launch.
TEST(CpuDevice, BitsDoNotDependOnThreads) {
  PlanBytes bytes(fullPlan().payload());
  constexpr uint32_t kMatmul = 5;
  auto x = randomFloats(4 * 256, 7), y = randomFloats(16 * 256, 8);
  std::vector<float> expected;
  for (const unsigned threads : {1u, 2u, 3u}) {
    CpuDevice device(threads);
    ASSERT_TRUE(device.loadKernels(**bytes.read()).ok());
    for (int repetition = 0; repetition < 200; ++repetition) {
      std::vector<float> product(4 * 16);
      void *args[] = {x.data(), y.data(), product.data()};
      device.launch(kMatmul, args, 4);
      if (expected.empty())
        expected = product;
      ASSERT_EQ(product, expected) << threads << " threads, repetition " << repetition;
    }
  }
}

/// Blocks that run at the same time would overwrite each other's numbers.
TEST(CpuDevice, BlocksHaveMemoryOfTheirOwn) {
  PlanBuilder builder = fullPlan();
  const uint32_t kernel =
      builder.kernel("test_block_memory", 64, {{fb::Access::Write, fb::DType::I64, 64 * sizeof(int64_t)}});
  builder.plan.kernels[kernel]->shared_bytes = 4096;
  builder.plan.kernels[0]->shared_bytes = 100;
  PlanBytes bytes(builder.payload());
  CpuDevice device(4);
  ASSERT_TRUE(device.loadKernels(**bytes.read()).ok());
  EXPECT_EQ(device.blockMemory().together(), 4U * 4096);
  for (int repetition = 0; repetition < 200; ++repetition) {
    std::vector<int64_t> sums(64);
    void *args[] = {sums.data()};
    device.launch(kernel, args, 64);
    for (int64_t tile = 0; tile < 64; ++tile)
      ASSERT_EQ(sums[tile], 512 * tile) << "repetition " << repetition;
  }
}

TEST(CpuDevice, RefusesAPlanForGpus) {
  PlanBytes bytes(forCuda(fullPlan()).payload());
  CpuDevice device(1);
  const Status status = device.loadKernels(**bytes.read());
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_EQ(status.message(), "plan 'test' is for cuda, and this is a CPU; run it with --device=cuda, or "
                              "compile the model with --target=cpu");
}

TEST(CpuDevice, NamesMissingFeatures) {
  PlanBuilder builder = fullPlan();
  builder.plan.objects[0]->features = {"avx2", "amx_tile", "sve2"};
  PlanBytes bytes(builder.payload());
  CpuDevice device(1);
  const Status status = device.loadKernels(**bytes.read());
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("x86-64-v3 (missing: "), HasSubstr("sve2)")));
  // The level is supported, but not the additional features of products on a matrix unit.
  EXPECT_THAT(status.message(), HasSubstr("compile the model with --fp32-products=fma"));
}

TEST(CpuDevice, SaysHowToCompileForThisCpu) {
  PlanBuilder builder = fullPlan();
  builder.plan.objects[0]->level = "x86-64-v5";
  builder.plan.objects[0]->features = {"avx10"};
  PlanBytes bytes(builder.payload());
  const Result<KernelLibrary> library = KernelLibrary::load(*fb::GetPlan(bytes.payload().data()));
  const std::string here(levelOfThisCpu());
  EXPECT_EQ(library.status().message(),
            fmt::format("the plan holds kernels for x86-64-v5 (missing: avx10); this CPU is an {0}: compile "
                        "the model with --cpu={0}, or with --cpu=all for every CPU",
                        here));
  // The matrix unit that a level is for has nothing to do with fp32 products.
  builder.plan.objects[0]->level = "x86-64-v4-amx";
  builder.plan.objects[0]->features = {"amx_tile", "sve2"};
  PlanBytes unit(builder.payload());
  const Result<KernelLibrary> other = KernelLibrary::load(*fb::GetPlan(unit.payload().data()));
  EXPECT_THAT(other.status().message(), HasSubstr(fmt::format("compile the model with --cpu={}", here)));
}

TEST(CpuDevice, NamesAMissingKernel) {
  PlanBuilder builder = fullPlan();
  builder.plan.kernels[0]->symbol = "absent_kernel";
  PlanBytes bytes(builder.payload());
  CpuDevice device(1);
  EXPECT_THAT(device.loadKernels(**bytes.read()).message(), HasSubstr("lacks kernel absent_kernel"));
}

TEST(CpuDevice, RefusesCodeThatIsNotElf) {
  PlanBuilder builder = fullPlan();
  PlanBytes good(builder.payload());
  CpuDevice other(1); // whose code the loader must not take for that of the next device
  ASSERT_TRUE(other.loadKernels(**good.read()).ok());
  builder.plan.objects[0]->image = {1, 2, 3};
  PlanBytes bytes(builder.payload());
  CpuDevice device(1);
  EXPECT_THAT(device.loadKernels(**bytes.read()).message(), HasSubstr("cannot load the plan's kernels"));
  EXPECT_THAT(device.loadKernels(**bytes.read()).message(), HasSubstr("compile the model again"));
}

/// A resource limit of this process while it lives.
class Limit {
public:
  Limit(decltype(RLIMIT_FSIZE) resource, rlim_t value) : resource_(resource) {
    ::getrlimit(resource_, &before_);
    const rlimit limit{value, before_.rlim_max};
    ::setrlimit(resource_, &limit);
  }
  ~Limit() { ::setrlimit(resource_, &before_); }

private:
  decltype(RLIMIT_FSIZE) resource_;
  rlimit before_{};
};

TEST(CpuDevice, SaysWhatMayKeepCodeFromLoading) {
  PlanBytes bytes(fullPlan().payload());
  const fb::Plan &plan = **bytes.read();
  CpuDevice device(1);
  const auto load = [&](decltype(RLIMIT_FSIZE) resource, rlim_t value) {
    const Limit limit(resource, value);
    return device.loadKernels(plan);
  };
  const Status noFile = load(RLIMIT_NOFILE, 0);
  EXPECT_EQ(noFile.exitCode(), 1);
  EXPECT_THAT(noFile.message(),
              HasSubstr("Too many open files; does a seccomp filter forbid memfd_create, or are too "
                        "many files open (ulimit -n)?"));
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const Status noRoom = load(RLIMIT_FSIZE, 1000);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(noRoom.exitCode(), 1);
  EXPECT_THAT(noRoom.message(), HasSubstr("File too large; is the memory full, or limited (ulimit -f"));
  EXPECT_TRUE(device.loadKernels(plan).ok());
}

TEST(CpuDevice, PicksTheHighestLevelThatTheCpuHas) {
  PlanBuilder builder = fullPlan();
  auto &better = builder.plan.objects.emplace_back(std::make_unique<fb::ObjectT>(*builder.plan.objects[0]));
  better->level = "x86-64-v4";
  auto &best = builder.plan.objects.emplace_back(std::make_unique<fb::ObjectT>(*builder.plan.objects[0]));
  best->level = "x86-64-v4-bf16";
  best->features.emplace_back("avx512_bf16");
  auto &unit = builder.plan.objects.emplace_back(std::make_unique<fb::ObjectT>(*builder.plan.objects[0]));
  unit->level = "x86-64-v4-amx";
  unit->features = {"amx_tile", "amx_bf16"};
  PlanBytes bytes(builder.payload());
  CpuDevice device(1);
  ASSERT_TRUE(device.loadKernels(**bytes.read()).ok());
  const bool v4 = missingFeatures("x86-64-v4", {}).empty(),
             bf16 = missingFeatures("x86-64-v4-bf16", {"avx512_bf16"}).empty() &&
                    speedRank("x86-64-v4-bf16") > speedRank("x86-64-v4"),
             amx = missingFeatures("x86-64-v4-amx", {"amx_tile", "amx_bf16"}).empty();
  EXPECT_EQ(device.description(), amx    ? "cpu (x86-64-v4-amx, 1 thread)"
                                  : bf16 ? "cpu (x86-64-v4-bf16, 1 thread)"
                                  : v4   ? "cpu (x86-64-v4, 1 thread)"
                                         : "cpu (x86-64-v3, 1 thread)");
  EXPECT_EQ(device.arithmetic(), amx ? "amx_bf16" : bf16 ? "avx512_bf16" : "");
}

TEST(NullDevice, TakesAPlanOfAnySizeAndComputesNothing) {
  NullDevice device;
  // 256 GiB: more than test machines have; 1 TiB may or may not fit into ThreadSanitizer's address space.
  const auto arena = device.allocate("persistent", fb::Space::Device, uint64_t{1} << 38, nullptr);
  ASSERT_TRUE(arena.ok()) << arena.status().message();
  float value = 3;
  device.write(*arena, std::as_bytes(std::span(&value, 1)));
  device.read(std::as_writable_bytes(std::span(&value, 1)), *arena);
  EXPECT_EQ(value, 0);
}

} // namespace
} // namespace trainc::test
