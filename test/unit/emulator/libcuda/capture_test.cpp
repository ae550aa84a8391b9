// Calls that a captured stream permits, and the end of its capture.
#include "test/unit/emulator/libcuda/emulated_gpu.h"

#include <thread>

namespace trainc::emulator {
namespace {

class EmulatedCapture : public testing::Test {
protected:
  void begin(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) {
    EXPECT_CU(cuStreamBeginCapture(stream, mode));
  }
  CUresult end() { return cuStreamEndCapture(stream, &graph); }
  CUstreamCaptureStatus status(CUstream of) {
    CUstreamCaptureStatus status{};
    EXPECT_CU(cuStreamIsCapturing(of, &status));
    return status;
  }
  template <typename Function> CUresult onOtherThread(Function function) {
    CUresult result{};
    std::thread([&] {
      EXPECT_CU(cuCtxSetCurrent(gpu.context));
      result = function();
    }).join();
    return result;
  }

  Journal journal;
  EmulatedGpu gpu;
  CUstream stream = gpu.stream(), other = gpu.stream();
  CUevent event = gpu.event();
  CUgraph graph = nullptr;
};

TEST_F(EmulatedCapture, RunsNothing) {
  begin();
  EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(status(other), CU_STREAM_CAPTURE_STATUS_NONE);
  journal.enqueue(stream, 1);
  EXPECT_CU(end());
  EXPECT_NE(graph, nullptr);
  EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_CU(cuStreamSynchronize(stream));
  EXPECT_TRUE(journal.notes.empty());
  EXPECT_CU(cuGraphDestroy(graph));
}

TEST_F(EmulatedCapture, TakesStreamsInThatWaitForIt) {
  begin();
  gpu.order(stream, other);
  EXPECT_EQ(status(other), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  journal.enqueue(other, 1);
  gpu.order(other, stream);
  EXPECT_CU(end());
  EXPECT_EQ(status(other), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(EmulatedCapture, MustBeJoined) {
  for (const bool hasWork : {false, true}) {
    begin();
    gpu.order(stream, other);
    gpu.order(other, stream);
    if (hasWork)
      journal.enqueue(other, 1);
    EXPECT_EQ(end(), hasWork ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED : CUDA_SUCCESS);
  }
  begin();
  gpu.order(stream, other);
  EXPECT_EQ(end(), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(status(other), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(EmulatedCapture, IsLostWhenItIsAwaited) {
  const auto loses = [&](auto call, CUresult expected = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) {
    begin();
    EXPECT_CU(cuEventRecord(event, stream));
    EXPECT_EQ(call(), expected);
    EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    EXPECT_EQ(emulatorEnqueue(stream, "work", {}), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(end(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(graph, nullptr);
  };
  loses([&] { return cuStreamSynchronize(stream); });
  loses([&] { return cuStreamQuery(stream); });
  loses([&] { return cuStreamDestroy(stream); });
  loses([&] { return cuEventSynchronize(event); }, CUDA_ERROR_CAPTURED_EVENT);
  loses([&] { return cuEventQuery(event); }, CUDA_ERROR_CAPTURED_EVENT);
  loses([&] { return cuStreamSynchronize(other); });
  CUdeviceptr memory = 0;
  loses([&] { return cuMemAlloc(&memory, 4); });
  memory = gpu.allocate(4);
  loses([&] { return cuMemFree(memory); });
  int pageable = 0;
  loses([&] { return cuMemcpyHtoDAsync(memory, &pageable, 4, stream); });
  loses([&] { return cuMemcpyDtoHAsync(&pageable, memory, 4, stream); });
}

TEST_F(EmulatedCapture, ModesSayWhomItDisturbs) {
  const auto allocates = [] {
    CUdeviceptr memory = 0;
    return cuMemAlloc(&memory, 4);
  };
  begin(CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CU(allocates());
  EXPECT_CU(onOtherThread(allocates));
  EXPECT_CU(end());
  begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_CU(onOtherThread(allocates));
  EXPECT_CU(onOtherThread([&] { return cuStreamSynchronize(other); }));
  EXPECT_CU(end());
  begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(onOtherThread(allocates), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(EmulatedCapture, EndsWhereItBegan) {
  EXPECT_EQ(end(), CUDA_ERROR_ILLEGAL_STATE);
  begin();
  EXPECT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(onOtherThread([&] { return end(); }), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  gpu.order(stream, other);
  EXPECT_EQ(cuStreamEndCapture(other, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  EXPECT_EQ(end(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CU(onOtherThread([&] { return end(); }));
}

TEST_F(EmulatedCapture, KeepsApartFromOtherWork) {
  EXPECT_CU(cuEventRecord(event, other));
  begin();
  EXPECT_EQ(cuStreamWaitEvent(stream, event, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(end(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

  begin(CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CU(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_CU(cuEventRecord(event, other));
  EXPECT_EQ(cuStreamWaitEvent(stream, event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
  EXPECT_EQ(end(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cuStreamEndCapture(other, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

  begin();
  EXPECT_CU(cuEventRecord(event, stream));
  EXPECT_CU(end());
  EXPECT_EQ(cuStreamWaitEvent(other, event, 0), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_CU(cuEventRecord(event, other)); // a new record makes it an ordinary event again
  EXPECT_CU(cuEventSynchronize(event));
}

} // namespace
} // namespace trainc::emulator
