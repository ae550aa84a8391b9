// Streams keep their order, events make one between them, and nothing else does.
#include "test/unit/emulator/libcuda/emulated_gpu.h"

#include <atomic>
#include <chrono>
#include <gmock/gmock.h>
#include <set>
#include <thread>

namespace trainc::emulator {
namespace {

using testing::ElementsAreArray;

TEST(EmulatedStreams, KeepTheirOrder) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Journal journal;
    std::vector<int> expected;
    const EmulatedGpu gpu(seed);
    CUstream stream = gpu.stream();
    for (int i = 0; i < 100; ++i) {
      journal.enqueue(stream, i);
      expected.push_back(i);
    }
    EXPECT_CU(cuStreamSynchronize(stream));
    EXPECT_THAT(journal.notes, ElementsAreArray(expected));
  }
}

TEST(EmulatedStreams, RunInAnyOrderWithoutEvents) {
  std::set<std::vector<int>> orders;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Journal journal;
    Gate gate;
    const EmulatedGpu gpu(seed);
    CUstream first = gpu.stream(), second = gpu.stream();
    gate.hold(first);
    gate.hold(second);
    journal.enqueue(first, 1);
    journal.enqueue(second, 2);
    gate.open();
    EXPECT_CU(cuStreamSynchronize(first));
    EXPECT_CU(cuStreamSynchronize(second));
    orders.insert(journal.notes);
  }
  EXPECT_EQ(orders.size(), 2U);
}

TEST(EmulatedStreams, EventsMakeAnOrder) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Journal journal;
    const EmulatedGpu gpu(seed);
    CUstream first = gpu.stream(), second = gpu.stream();
    journal.enqueue(first, 1);
    gpu.order(first, second);
    journal.enqueue(second, 2);
    gpu.order(second, first);
    journal.enqueue(first, 3);
    EXPECT_CU(cuStreamSynchronize(first));
    EXPECT_THAT(journal.notes, testing::ElementsAre(1, 2, 3));
  }
}

TEST(EmulatedStreams, AnEventStandsForWhatItWasRecordedAfter) {
  std::set<std::vector<int>> orders;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Journal journal;
    Gate gate;
    const EmulatedGpu gpu(seed);
    CUstream first = gpu.stream(), second = gpu.stream();
    CUevent event = gpu.event();
    gate.hold(first);
    gate.hold(second);
    EXPECT_CU(cuStreamWaitEvent(second, event, 0)); // not recorded: nothing to wait for
    EXPECT_CU(cuEventRecord(event, first));
    journal.enqueue(first, 1);
    EXPECT_CU(cuStreamWaitEvent(second, event, 0));
    journal.enqueue(second, 2);
    gate.open();
    EXPECT_CU(cuStreamSynchronize(first));
    EXPECT_CU(cuStreamSynchronize(second));
    orders.insert(journal.notes);
  }
  EXPECT_EQ(orders.size(), 2U);
}

TEST(EmulatedStreams, AreOftenLate) {
  bool wasLate = false, wasAtOnce = false;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const EmulatedGpu gpu(seed);
    CUstream stream = gpu.stream();
    CUdeviceptr memory = gpu.allocate(4);
    EXPECT_CU(cuMemsetD8Async(memory, 1, 4, stream));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    (emulatorIsWritten(memory, 4) ? wasAtOnce : wasLate) = true;
  }
  EXPECT_TRUE(wasLate);
  EXPECT_TRUE(wasAtOnce);
}

TEST(EmulatedStreams, GoOnWithoutAnybodyWhoWaits) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const EmulatedGpu gpu(seed);
    std::atomic<bool> done = false;
    EXPECT_CU(emulatorEnqueue(gpu.stream(), "a note", [&] {
      done = true;
      return std::optional<std::string>();
    }));
    while (!done)
      std::this_thread::yield();
  }
}

TEST(EmulatedStreams, AreDoneOnceAQuerySaysSo) {
  bool wasNotReady = false;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Journal journal;
    const EmulatedGpu gpu(seed);
    CUstream stream = gpu.stream();
    CUevent event = gpu.event();
    EXPECT_CU(cuEventQuery(event));
    journal.enqueue(stream, 1);
    EXPECT_CU(cuEventRecord(event, stream));
    CUresult result = CUDA_ERROR_NOT_READY;
    while ((result = seed % 2 ? cuStreamQuery(stream) : cuEventQuery(event)) == CUDA_ERROR_NOT_READY)
      wasNotReady = true;
    EXPECT_CU(result);
    EXPECT_EQ(journal.notes.size(), 1U);
  }
  EXPECT_TRUE(wasNotReady);
}

TEST(EmulatedStreams, EventsTellTimes) {
  const EmulatedGpu gpu;
  CUstream stream = gpu.stream();
  CUevent start = gpu.event(), end = gpu.event(), timeless = gpu.event(CU_EVENT_DISABLE_TIMING);
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CU(cuEventRecord(start, stream));
  EXPECT_CU(emulatorEnqueue(stream, "a nap", [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return std::optional<std::string>();
  }));
  EXPECT_CU(cuEventRecord(end, stream));
  EXPECT_CU(cuEventRecord(timeless, stream));
  EXPECT_CU(cuEventSynchronize(end));
  EXPECT_CU(cuEventElapsedTime(&milliseconds, start, end));
  EXPECT_GE(milliseconds, 5);
  EXPECT_CU(cuEventSynchronize(timeless));
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, timeless), CUDA_ERROR_INVALID_HANDLE);
}

TEST(EmulatedStreams, WorkThatWaitsForPeersHoldsUpItsStreamAlone) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Journal journal;
    std::atomic<bool> hasPeer = false;
    const EmulatedGpu gpu(seed);
    CUstream first = gpu.stream(), second = gpu.stream();
    EXPECT_CU(emulatorEnqueueWhen(
        first, "a collective", [&] { return hasPeer.load(); },
        [&] {
          journal.notes.push_back(1);
          return std::optional<std::string>();
        }));
    journal.enqueue(second, 2);
    EXPECT_CU(cuStreamSynchronize(second));
    EXPECT_EQ(cuStreamQuery(first), CUDA_ERROR_NOT_READY);
    hasPeer = true;
    EXPECT_CU(cuStreamSynchronize(first));
    EXPECT_THAT(journal.notes, testing::ElementsAre(2, 1));
  }
}

TEST(EmulatedStreams, OfTwoDevicesWaitForEachOther) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Journal journal;
    const EmulatedGpu gpu(EmulatedGpu::Variables{{"TRAINC_EMULATOR_SEED", std::to_string(seed)},
                                                 {"TRAINC_EMULATOR_DEVICES", "2"}});
    CUstream first = gpu.stream();
    CUcontext other = nullptr;
    ASSERT_CU(cuDevicePrimaryCtxRetain(&other, 1));
    ASSERT_CU(cuCtxSetCurrent(other));
    CUstream second = gpu.stream();
    CUevent done = gpu.event();
    journal.enqueue(second, 1);
    EXPECT_CU(cuEventRecord(done, second));
    EXPECT_CU(cuCtxSetCurrent(gpu.context));
    EXPECT_CU(cuStreamWaitEvent(first, done, 0));
    journal.enqueue(first, 2);
    EXPECT_CU(cuStreamSynchronize(first));
    EXPECT_THAT(journal.notes, testing::ElementsAre(1, 2));
    EXPECT_CU(cuDevicePrimaryCtxRelease(1));
  }
}

TEST(EmulatedStreams, FailForGood) {
  Journal journal;
  const EmulatedGpu gpu;
  CUstream stream = gpu.stream(), other = gpu.stream();
  EXPECT_CU(emulatorEnqueue(stream, "a fault", [] { return std::optional<std::string>("it broke"); }));
  journal.enqueue(stream, 1);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(cuStreamSynchronize(other), CUDA_ERROR_LAUNCH_FAILED);
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc(&address, 4), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_TRUE(journal.notes.empty());
}

TEST(EmulatedStreams, AFunctionOfTheHostCallsNothing) {
  struct Called {
    CUresult result = CUDA_SUCCESS;
    CUstream stream = nullptr;
  } called;
  const EmulatedGpu gpu;
  CUstream stream = called.stream = gpu.stream();
  EXPECT_CU(cuLaunchHostFunc(
      stream,
      [](void *data) {
        auto *seen = static_cast<Called *>(data);
        seen->result = cuStreamQuery(seen->stream);
      },
      &called));
  EXPECT_CU(cuStreamSynchronize(stream));
  EXPECT_EQ(called.result, CUDA_ERROR_NOT_PERMITTED);
}

TEST(EmulatedStreams, DoWhatIsPendingAfterTheyAreDestroyed) {
  Journal journal;
  const EmulatedGpu gpu;
  CUstream stream = gpu.stream(), other = gpu.stream();
  CUevent event = gpu.event();
  journal.enqueue(stream, 1);
  EXPECT_CU(cuEventRecord(event, stream));
  EXPECT_CU(cuStreamDestroy(stream));
  EXPECT_CU(cuStreamWaitEvent(other, event, 0));
  EXPECT_CU(cuEventDestroy(event));
  EXPECT_CU(cuStreamSynchronize(other));
  EXPECT_EQ(journal.notes.size(), 1U);
}

} // namespace
} // namespace trainc::emulator
