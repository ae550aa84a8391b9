// Graphs execute the captured work in every order that their edges allow, once per launch.
#include "test/unit/emulator/libcuda/emulated_gpu.h"

#include <algorithm>
#include <atomic>
#include <set>

namespace trainc::emulator {
namespace {

CUgraphExec instantiate(CUstream captured) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_CU(cuStreamEndCapture(captured, &graph));
  EXPECT_CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
  EXPECT_CU(cuGraphDestroy(graph));
  return exec;
}

/// 1 before 2 and 3, both before 4.
CUgraphExec diamond(const EmulatedGpu &gpu, Journal &journal, CUstream stream) {
  CUstream other = gpu.stream();
  EXPECT_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  journal.enqueue(stream, 1);
  gpu.order(stream, other);
  journal.enqueue(other, 2);
  journal.enqueue(stream, 3);
  gpu.order(other, stream);
  journal.enqueue(stream, 4);
  return instantiate(stream);
}

TEST(EmulatedGraphs, KeepTheOrderOfTheirEdges) {
  std::set<std::vector<int>> orders;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Journal journal;
    const EmulatedGpu gpu(seed);
    CUstream stream = gpu.stream();
    CUgraphExec exec = diamond(gpu, journal, stream);
    EXPECT_CU(cuGraphUpload(exec, stream));
    journal.enqueue(stream, 0);
    EXPECT_CU(cuGraphLaunch(exec, stream));
    journal.enqueue(stream, 5);
    EXPECT_CU(cuStreamSynchronize(stream));
    orders.insert(journal.notes);
  }
  EXPECT_EQ(orders, (std::set<std::vector<int>>{{0, 1, 2, 3, 4, 5}, {0, 1, 3, 2, 4, 5}}));
}

TEST(EmulatedGraphs, LaunchesComeOneAfterTheOther) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Journal journal;
    const EmulatedGpu gpu(seed);
    CUstream stream = gpu.stream(), other = gpu.stream();
    CUgraphExec exec = diamond(gpu, journal, stream);
    EXPECT_CU(cuGraphLaunch(exec, stream));
    EXPECT_CU(cuGraphLaunch(exec, other));
    EXPECT_CU(cuGraphLaunch(exec, stream));
    EXPECT_CU(cuGraphExecDestroy(exec));
    EXPECT_CU(cuStreamSynchronize(stream));
    ASSERT_EQ(journal.notes.size(), 12U);
    for (size_t launch = 0; launch < 3; ++launch) {
      EXPECT_EQ(journal.notes[launch * 4], 1);
      EXPECT_EQ(journal.notes[launch * 4 + 3], 4);
    }
  }
}

TEST(EmulatedGraphs, AnEmptyOneIsAPlaceInTheStream) {
  Journal journal;
  const EmulatedGpu gpu;
  CUstream stream = gpu.stream();
  EXPECT_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUgraphExec exec = instantiate(stream);
  journal.enqueue(stream, 1);
  EXPECT_CU(cuGraphLaunch(exec, stream));
  EXPECT_CU(cuStreamSynchronize(stream));
  EXPECT_EQ(journal.notes.size(), 1U);
}

TEST(EmulatedGraphs, ReadPinnedMemoryInEachLaunch) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const EmulatedGpu gpu(seed);
    CUstream stream = gpu.stream();
    CUdeviceptr memory = gpu.allocate(4);
    int *from = gpu.pinned<int>(1), *to = gpu.pinned<int>(1);
    EXPECT_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    EXPECT_CU(cuMemcpyHtoDAsync(memory, from, 4, stream));
    EXPECT_CU(cuMemcpyDtoHAsync(to, memory, 4, stream));
    CUgraphExec exec = instantiate(stream);
    for (int i = 0; i < 3; ++i) {
      *from = i;
      EXPECT_CU(cuGraphLaunch(exec, stream));
      EXPECT_CU(cuStreamSynchronize(stream));
      EXPECT_EQ(*to, i);
    }
  }
}

TEST(EmulatedGraphs, SpoilWhatTheyWriteToTheHost) {
  TRAINC_RACES_ON_PURPOSE();
  bool wasSpoilt = false;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const EmulatedGpu gpu(seed);
    CUstream stream = gpu.stream();
    CUdeviceptr memory = gpu.allocate(4);
    gpu.write(memory, 1, stream);
    int *to = gpu.pinned<int>(1);
    EXPECT_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    EXPECT_CU(cuMemcpyDtoHAsync(to, memory, 4, stream));
    CUgraphExec exec = instantiate(stream);
    EXPECT_CU(cuGraphLaunch(exec, stream));
    wasSpoilt |= peek(to) == -1; // too early
    EXPECT_CU(cuStreamSynchronize(stream));
    EXPECT_EQ(*to, 1);
  }
  EXPECT_TRUE(wasSpoilt);
}

TEST(EmulatedGraphs, AskPeersAgainInEachLaunch) {
  std::atomic<int> peers = 0;
  int done = 0;
  const EmulatedGpu gpu;
  CUstream stream = gpu.stream();
  EXPECT_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_CU(emulatorEnqueueWhen(
      stream, "a collective", [&] { return peers > done; },
      [&] {
        ++done;
        return std::optional<std::string>();
      }));
  CUgraphExec exec = instantiate(stream);
  EXPECT_CU(cuGraphLaunch(exec, stream));
  EXPECT_CU(cuGraphLaunch(exec, stream));
  for (peers = 1; peers <= 2; ++peers)
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY && peers < 2)
      if (done == 1)
        break;
  EXPECT_CU(cuStreamSynchronize(stream));
  EXPECT_EQ(done, 2);
}

} // namespace
} // namespace trainc::emulator
