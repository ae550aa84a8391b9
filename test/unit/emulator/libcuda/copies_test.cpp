// Copies: late with pinned memory, not with pageable memory; and copies of unwritten bytes.
#include "test/unit/emulator/libcuda/emulated_gpu.h"

#include <numeric>
#include <set>

namespace trainc::emulator {
namespace {

TEST(EmulatedCopies, GoThereAndBack) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const EmulatedGpu gpu(seed);
    CUstream stream = gpu.stream();
    CUdeviceptr one = gpu.allocate(4000), two = gpu.allocate(4000);
    int *from = gpu.pinned<int>(1000), *to = gpu.pinned<int>(1000);
    std::iota(from, from + 1000, 7);
    EXPECT_CU(cuMemsetD8Async(one, 0, 4000, stream));
    EXPECT_CU(cuMemcpyHtoDAsync(one, from, 4000, stream));
    EXPECT_CU(cuMemcpyDtoDAsync(two + 400, one, 3600, stream));
    EXPECT_CU(cuMemsetD8Async(two, 0xff, 400, stream));
    EXPECT_CU(cuMemcpyDtoHAsync(to, two, 4000, stream));
    EXPECT_CU(cuStreamSynchronize(stream));
    for (int i = 0; i < 1000; ++i)
      ASSERT_EQ(to[i], i < 100 ? -1 : i - 100 + 7);
  }
}

TEST(EmulatedCopies, ReadPinnedMemoryLate) {
  TRAINC_RACES_ON_PURPOSE();
  std::set<int> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Gate gate;
    const EmulatedGpu gpu(seed);
    CUstream stream = gpu.stream();
    CUdeviceptr memory = gpu.allocate(4);
    int *source = gpu.pinned<int>(1);
    *source = 1;
    gate.hold(stream);
    EXPECT_CU(cuMemcpyHtoDAsync(memory, source, 4, stream));
    *source = 2; // too early
    gate.open();
    seen.insert(gpu.read<int>(memory, stream));
  }
  EXPECT_TRUE(seen.contains(2));
}

TEST(EmulatedCopies, ReadPageableMemoryAtOnce) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const EmulatedGpu gpu(seed);
    CUstream stream = gpu.stream();
    CUdeviceptr memory = gpu.allocate(4);
    int source = 1;
    EXPECT_CU(cuMemcpyHtoDAsync(memory, &source, 4, stream));
    source = 2;
    EXPECT_EQ(gpu.read<int>(memory, stream), 1);
  }
}

TEST(EmulatedCopies, SpoilPinnedMemoryUntilTheyAreDone) {
  TRAINC_RACES_ON_PURPOSE();
  std::set<int> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const EmulatedGpu gpu(seed);
    CUstream stream = gpu.stream();
    CUdeviceptr memory = gpu.allocate(4);
    gpu.write(memory, 1, stream);
    int *destination = gpu.pinned<int>(1);
    *destination = 5;
    EXPECT_CU(cuMemcpyDtoHAsync(destination, memory, 4, stream));
    seen.insert(peek(destination)); // too early
    EXPECT_CU(cuStreamSynchronize(stream));
    EXPECT_EQ(*destination, 1);
  }
  EXPECT_TRUE(seen.contains(-1));
  EXPECT_FALSE(seen.contains(5));
}

/// Work before the copy may still read the memory.
TEST(EmulatedCopies, SpoilNothingThatIsStillRead) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const EmulatedGpu gpu(seed);
    CUstream stream = gpu.stream();
    CUdeviceptr one = gpu.allocate(4), two = gpu.allocate(4);
    int *both = gpu.pinned<int>(1);
    *both = 3;
    gpu.write(two, 4, stream);
    EXPECT_CU(cuMemcpyHtoDAsync(one, both, 4, stream));
    EXPECT_CU(cuMemcpyDtoHAsync(both, two, 4, stream));
    EXPECT_CU(cuStreamSynchronize(stream));
    EXPECT_EQ(*both, 4);
    EXPECT_EQ(gpu.read<int>(one, stream), 3);
  }
}

TEST(EmulatedCopies, RefuseWhatWasNeverWritten) {
  const EmulatedGpu gpu;
  CUstream stream = gpu.stream();
  CUdeviceptr one = gpu.allocate(8), two = gpu.allocate(8);
  EXPECT_CU(cuMemsetD8Async(one, 1, 7, stream));
  EXPECT_CU(cuMemcpyDtoDAsync(two, one, 8, stream)); // allowed: the last byte stays unwritten
  std::byte host[8];
  EXPECT_CU(cuMemcpyDtoHAsync(host, two, 7, stream));
  EXPECT_EQ(cuMemcpyDtoHAsync(host, two, 8, stream), CUDA_ERROR_LAUNCH_FAILED);
}

TEST(EmulatedCopies, FindMemoryThatWasFreedMeanwhile) {
  for (const bool freesPinned : {false, true}) {
    Gate gate;
    const EmulatedGpu gpu;
    CUstream stream = gpu.stream();
    CUdeviceptr memory = gpu.allocate(4);
    int *source = gpu.pinned<int>(1);
    gate.hold(stream);
    EXPECT_CU(cuMemcpyHtoDAsync(memory, source, 4, stream));
    EXPECT_CU(freesPinned ? cuMemFreeHost(source) : cuMemFree(memory));
    gate.open();
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  }
}

TEST(EmulatedCopies, CannotBeMadeByTheHost) {
  const EmulatedGpu gpu;
  CUdeviceptr memory = gpu.allocate(4);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(static_cast<void>(*reinterpret_cast<volatile int *>(memory)), "");
}

} // namespace
} // namespace trainc::emulator
