// The emulated NCCL: transfers and rejections.
#include "test/emulator/libcuda/extension.h"
#include "test/unit/runtime/comm/nccl/child.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <gmock/gmock.h>
#include <nccl.h>
#include <thread>
#include <vector>

namespace trainc {
namespace {

using test::inChild;
using testing::HasSubstr;

/// A rank with a GPU, its memory, and a communicator that the test makes.
class Gpu {
public:
  explicit Gpu(int device) {
    EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context_, device), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
  }

  ncclResult_t open(const ncclUniqueId &id, int ranks, int rank, bool blocking) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = blocking ? 1 : 0;
    return ncclCommInitRankConfig(&comm, ranks, id, rank, &config);
  }
  /// Registered memory of floats.
  float *allocate(size_t elements) const {
    void *memory = nullptr, *handle = nullptr;
    EXPECT_EQ(ncclMemAlloc(&memory, elements * sizeof(float)), ncclSuccess);
    EXPECT_EQ(ncclCommRegister(comm, memory, elements * sizeof(float), &handle), ncclSuccess);
    return static_cast<float *>(memory);
  }
  static std::byte *bytes(float *memory, size_t elements) {
    return emulatorBytes(reinterpret_cast<CUdeviceptr>(memory), elements * sizeof(float));
  }
  static void fill(float *memory, const std::vector<float> &values) {
    std::memcpy(bytes(memory, values.size()), values.data(), values.size() * sizeof(float));
    emulatorNoteWritten(reinterpret_cast<CUdeviceptr>(memory), values.size() * sizeof(float));
  }
  static std::vector<float> read(float *memory, size_t elements) {
    std::vector<float> values(elements);
    std::memcpy(values.data(), bytes(memory, elements), elements * sizeof(float));
    return values;
  }
  CUresult wait() const { return cuStreamSynchronize(stream); }

  CUstream stream = nullptr;
  ncclComm_t comm = nullptr;

private:
  CUcontext context_ = nullptr;
};

test::Variables devices(int count) { return {{"TRAINC_EMULATOR_DEVICES", std::to_string(count)}}; }

/// Each rank as a thread, with a communicator that blocks.
template <typename Body> void onRanks(int ranks, const test::Variables &more, Body body) {
  test::Variables variables = devices(ranks);
  variables.insert(more.begin(), more.end());
  inChild(variables, [&] {
    ncclUniqueId id;
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        Gpu gpu(rank);
        ASSERT_EQ(gpu.open(id, ranks, rank, /*blocking=*/true), ncclSuccess);
        body(gpu, rank);
      });
    for (std::thread &thread : threads)
      thread.join();
  });
}

TEST(EmulatedNccl, SumsGoAroundTheRing) {
  onRanks(3, {}, [](Gpu &gpu, int rank) {
    constexpr size_t kElements = 3072; // three chunks
    float *memory = gpu.allocate(kElements);
    // 1 is lost next to 2^24 unless the large ones are added first.
    const float values[] = {1, 16777216, -16777216};
    Gpu::fill(memory, std::vector<float>(kElements, values[rank]));
    ASSERT_EQ(ncclAllReduce(memory, memory, kElements, ncclFloat32, ncclSum, gpu.comm, gpu.stream),
              ncclSuccess);
    ASSERT_EQ(gpu.wait(), CUDA_SUCCESS);
    const std::vector<float> sums = Gpu::read(memory, kElements);
    EXPECT_EQ(sums[0], 1) << "(x1 + x2) + x0";
    EXPECT_EQ(sums[1024], 1) << "(x2 + x0) + x1";
    EXPECT_EQ(sums[2048], 0) << "(x0 + x1) + x2";
  });
}

TEST(EmulatedNccl, SendsAndReceivesOfAGroupGoTogether) {
  constexpr size_t kElements = 50000; // in several pieces
  onRanks(3, {}, [](Gpu &gpu, int rank) {
    float *out = gpu.allocate(kElements), *in = gpu.allocate(3 * kElements);
    Gpu::fill(out, std::vector<float>(kElements, static_cast<float>(rank)));
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (int peer = 0; peer < 3; ++peer) {
      ASSERT_EQ(ncclSend(out, kElements, ncclFloat32, peer, gpu.comm, gpu.stream), ncclSuccess);
      ASSERT_EQ(ncclRecv(in + peer * kElements, kElements, ncclFloat32, peer, gpu.comm, gpu.stream),
                ncclSuccess);
    }
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
    ASSERT_EQ(gpu.wait(), CUDA_SUCCESS);
    for (int peer = 0; peer < 3; ++peer)
      EXPECT_EQ(Gpu::read(in + peer * kElements, kElements),
                std::vector<float>(kElements, static_cast<float>(peer)));
  });
}

TEST(EmulatedNccl, ACallInProgressMustBePolled) {
  inChild(devices(1), [] {
    ncclUniqueId id;
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    Gpu gpu(0);
    ASSERT_EQ(gpu.open(id, 1, 0, /*blocking=*/false), ncclInProgress);
    void *handle = nullptr;
    float word = 0;
    EXPECT_EQ(ncclCommRegister(gpu.comm, &word, sizeof(word), &handle), ncclInvalidUsage);
    EXPECT_THAT(ncclGetLastError(gpu.comm), HasSubstr("a call of this communicator is in progress"));
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress)
      ASSERT_EQ(ncclCommGetAsyncError(gpu.comm, &state), ncclSuccess);
    EXPECT_EQ(state, ncclSuccess);
    float *memory = gpu.allocate(8);
    Gpu::fill(memory, std::vector<float>(8, 1));
    EXPECT_EQ(ncclAllReduce(memory, memory, 8, ncclFloat32, ncclSum, gpu.comm, gpu.stream), ncclInProgress);
    EXPECT_EQ(ncclAllReduce(memory, memory, 8, ncclFloat32, ncclSum, gpu.comm, gpu.stream), ncclInvalidUsage);
  });
}

TEST(EmulatedNccl, MemoryMustBeRegisteredWrittenAndAlive) {
  onRanks(1, {}, [](Gpu &gpu, int) {
    float *memory = gpu.allocate(8);
    void *strange = nullptr;
    ASSERT_EQ(ncclMemAlloc(&strange, 32), ncclSuccess);
    EXPECT_EQ(ncclAllReduce(strange, strange, 8, ncclFloat32, ncclSum, gpu.comm, gpu.stream),
              ncclInvalidArgument);
    EXPECT_THAT(ncclGetLastError(gpu.comm), HasSubstr("memory is not registered with this communicator"));
    EXPECT_EQ(ncclAllReduce(memory, memory, 9, ncclFloat32, ncclSum, gpu.comm, gpu.stream),
              ncclInvalidArgument);
    EXPECT_EQ(ncclAllReduce(memory, memory + 1, 4, ncclFloat32, ncclSum, gpu.comm, gpu.stream),
              ncclInvalidArgument);
    EXPECT_THAT(ncclGetLastError(gpu.comm), HasSubstr("source and destination overlap, and not in place"));
    EXPECT_EQ(ncclAllReduce(memory, memory, 8, ncclFloat32, ncclSum, gpu.comm, gpu.stream), ncclSuccess);
    EXPECT_EQ(gpu.wait(), CUDA_ERROR_LAUNCH_FAILED) << "nothing was written there";
  });
}

TEST(EmulatedNccl, ReleasedMemoryIsFound) {
  onRanks(1, {}, [](Gpu &gpu, int) {
    float *memory = gpu.allocate(8);
    ASSERT_EQ(ncclMemFree(memory), ncclSuccess);
    EXPECT_EQ(ncclMemFree(memory), ncclInvalidArgument);
    EXPECT_EQ(ncclAllReduce(memory, memory, 8, ncclFloat32, ncclSum, gpu.comm, gpu.stream), ncclSuccess);
    EXPECT_EQ(gpu.wait(), CUDA_ERROR_LAUNCH_FAILED);
  });
}

TEST(EmulatedNccl, CallsThatDifferEndTheDevice) {
  onRanks(2, {}, [](Gpu &gpu, int rank) {
    float *memory = gpu.allocate(8);
    Gpu::fill(memory, std::vector<float>(8, 1));
    const ncclResult_t result =
        rank == 0 ? ncclAllReduce(memory, memory, 8, ncclFloat32, ncclSum, gpu.comm, gpu.stream)
                  : ncclReduceScatter(memory, memory + 4, 4, ncclFloat32, ncclSum, gpu.comm, gpu.stream);
    EXPECT_EQ(result, ncclSuccess);
    EXPECT_EQ(gpu.wait(), CUDA_ERROR_LAUNCH_FAILED);
  });
}

TEST(EmulatedNccl, TwoRanksOfOneNumberAreRefused) {
  inChild(devices(1), [] {
    ncclUniqueId id;
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    Gpu first(0), second(0);
    EXPECT_EQ(first.open(id, 2, 0, /*blocking=*/false), ncclInProgress);
    EXPECT_EQ(second.open(id, 2, 0, /*blocking=*/false), ncclInvalidUsage);
    EXPECT_THAT(ncclGetLastError(nullptr), HasSubstr("two ranks say that they are rank 0"));
    EXPECT_EQ(ncclCommAbort(first.comm), ncclSuccess); // with the memory where the others would have met
  });
}

TEST(EmulatedNccl, ADestroyedCommunicatorIsNotUsed) {
  onRanks(1, {}, [](Gpu &gpu, int) {
    float *memory = gpu.allocate(8);
    ASSERT_EQ(ncclCommDestroy(gpu.comm), ncclSuccess);
    EXPECT_EQ(ncclAllReduce(memory, memory, 8, ncclFloat32, ncclSum, gpu.comm, gpu.stream),
              ncclInvalidArgument);
    EXPECT_THAT(ncclGetLastError(nullptr), HasSubstr("the communicator was destroyed before"));
  });
}

TEST(EmulatedNccl, AHangEndsWithTheCommunicator) {
  onRanks(2, {{"TRAINC_EMULATOR_NCCL", "hang:rank=1:collective=2"}}, [](Gpu &gpu, int) {
    float *memory = gpu.allocate(8);
    Gpu::fill(memory, std::vector<float>(8, 1));
    ASSERT_EQ(ncclAllReduce(memory, memory, 8, ncclFloat32, ncclSum, gpu.comm, gpu.stream), ncclSuccess);
    ASSERT_EQ(gpu.wait(), CUDA_SUCCESS);
    ASSERT_EQ(ncclAllReduce(memory, memory, 8, ncclFloat32, ncclSum, gpu.comm, gpu.stream), ncclSuccess);
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(200))
      ASSERT_EQ(cuStreamQuery(gpu.stream), CUDA_ERROR_NOT_READY);
    ASSERT_EQ(ncclCommAbort(gpu.comm), ncclSuccess);
    EXPECT_EQ(gpu.wait(), CUDA_SUCCESS);
  });
}

/// A graph of one all-reduce over each communicator, one after the other.
class Graph {
public:
  Graph(const Gpu &gpu, const std::vector<ncclComm_t> &comms, float *memory) {
    EXPECT_EQ(cuStreamBeginCapture(gpu.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
    for (const ncclComm_t comm : comms)
      EXPECT_EQ(ncclAllReduce(memory, memory, 8, ncclFloat32, ncclSum, comm, gpu.stream), ncclSuccess);
    EXPECT_EQ(cuStreamEndCapture(gpu.stream, &graph_), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphInstantiateWithFlags(&exec_, graph_, 0), CUDA_SUCCESS);
  }
  void launch(CUstream stream) const { EXPECT_EQ(cuGraphLaunch(exec_, stream), CUDA_SUCCESS); }
  void destroyGraph() const { EXPECT_EQ(cuGraphDestroy(graph_), CUDA_SUCCESS); }
  void destroyExec() const { EXPECT_EQ(cuGraphExecDestroy(exec_), CUDA_SUCCESS); }

private:
  CUgraph graph_ = nullptr;
  CUgraphExec exec_ = nullptr;
};

/// A call on a thread of its own.
class Beside {
public:
  explicit Beside(std::function<ncclResult_t()> call)
      : thread_([this, call = std::move(call)] {
          EXPECT_EQ(call(), ncclSuccess);
          returned_ = true;
        }) {}
  bool returnsSoon() const {
    for (int i = 0; i < 100 && !returned_; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return returned_;
  }
  void join() { thread_.join(); }

private:
  std::atomic<bool> returned_ = false;
  std::thread thread_;
};

void expectWaitForGraphs(ncclResult_t (*call)(ncclComm_t)) {
  onRanks(1, {}, [&](Gpu &gpu, int) {
    float *memory = gpu.allocate(8);
    const Graph graph(gpu, {gpu.comm}, memory);
    Beside end([&] { return call(gpu.comm); });
    EXPECT_FALSE(end.returnsSoon());
    graph.destroyGraph();
    EXPECT_FALSE(end.returnsSoon()) << "the executable one holds the work as well";
    graph.destroyExec();
    end.join();
  });
}

TEST(EmulatedNccl, AbortWaitsForGraphs) { expectWaitForGraphs(ncclCommAbort); }
TEST(EmulatedNccl, FinalizeWaitsForGraphs) { expectWaitForGraphs(ncclCommFinalize); }
TEST(EmulatedNccl, DestroyWaitsForGraphs) { expectWaitForGraphs(ncclCommDestroy); }

TEST(EmulatedNccl, AGraphInFlightIsReleasedByAllItsCommunicatorsTogether) {
  onRanks(1, {{"TRAINC_EMULATOR_NCCL", "hang:rank=0:collective=1"}}, [](Gpu &first, int) {
    Gpu second(0);
    ncclUniqueId id;
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    ASSERT_EQ(second.open(id, 1, 0, /*blocking=*/true), ncclSuccess);
    float *memory = first.allocate(8);
    void *handle = nullptr;
    ASSERT_EQ(ncclCommRegister(second.comm, memory, 8 * sizeof(float), &handle), ncclSuccess);
    Gpu::fill(memory, std::vector<float>(8, 1));
    const Graph graph(first, {first.comm, second.comm}, memory);
    graph.launch(first.stream);
    graph.destroyGraph();
    graph.destroyExec();
    Beside alone([&] { return ncclCommAbort(first.comm); });
    EXPECT_FALSE(alone.returnsSoon()) << "the graph hangs in the other's collective";
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    ASSERT_EQ(ncclCommAbort(second.comm), ncclSuccess);
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
    alone.join();
    EXPECT_EQ(first.wait(), CUDA_SUCCESS);
  });
}

TEST(EmulatedNccl, CallsFailWhereTheEnvironmentAsks) {
  onRanks(1, {{"TRAINC_EMULATOR_FAULT", "ncclMemAlloc:2=ncclSystemError"}}, [](Gpu &, int) {
    void *memory = nullptr;
    EXPECT_EQ(ncclMemAlloc(&memory, 8), ncclSuccess);
    EXPECT_EQ(ncclMemAlloc(&memory, 8), ncclSystemError);
    EXPECT_EQ(ncclMemAlloc(&memory, 8), ncclSuccess);
  });
}

} // namespace
} // namespace trainc
