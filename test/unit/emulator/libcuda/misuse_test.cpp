// Misuse is rejected by the driver's own error, and said on stderr.
#include "test/unit/emulator/libcuda/emulated_gpu.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace trainc::emulator {
namespace {

using testing::HasSubstr;

/// Output of a call on stderr.
template <typename Function> std::string said(Function function, CUresult expected) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(function(), expected);
  return testing::internal::GetCapturedStderr();
}

TEST(EmulatedMisuse, NoContextIsCurrent) {
  const EmulatedGpu gpu;
  CUstream stream = gpu.stream();
  std::thread([&] {
    CUdeviceptr memory = 0;
    EXPECT_THAT(
        said([&] { return cuMemAlloc(&memory, 4); }, CUDA_ERROR_INVALID_CONTEXT),
        HasSubstr(
            "emulated GPU: cuMemAlloc: CUDA_ERROR_INVALID_CONTEXT: no context is current on this thread"));
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_CONTEXT);
    CUcontext current = gpu.context;
    EXPECT_CU(cuCtxGetCurrent(&current));
    EXPECT_EQ(current, nullptr);
  }).join();
}

TEST(EmulatedMisuse, TheContextIsAnotherDevices) {
  const EmulatedGpu gpu(EmulatedGpu::Variables{{"TRAINC_EMULATOR_DEVICES", "2"}});
  CUstream stream = gpu.stream();
  CUevent event = gpu.event();
  CUdeviceptr memory = gpu.allocate(4);
  CUcontext other = nullptr;
  ASSERT_CU(cuDevicePrimaryCtxRetain(&other, 1));
  ASSERT_CU(cuCtxSetCurrent(other));
  EXPECT_THAT(said([&] { return cuMemsetD8Async(memory, 0, 4, stream); }, CUDA_ERROR_INVALID_HANDLE),
              HasSubstr("the stream is of device 0, but the context of device 1 is current"));
  EXPECT_EQ(cuEventRecord(event, gpu.stream()), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuDevicePrimaryCtxRelease(1));
  EXPECT_EQ(cuMemAlloc(&memory, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuCtxSetCurrent(other), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_ERROR_INVALID_CONTEXT);
}

TEST(EmulatedMisuse, HandlesThatAreNone) {
  const EmulatedGpu gpu;
  CUstream stream = gpu.stream();
  CUevent event = gpu.event();
  EXPECT_THAT(said([] { return cuStreamSynchronize(nullptr); }, CUDA_ERROR_INVALID_HANDLE),
              HasSubstr("the stream is null"));
  EXPECT_THAT(
      said([&] { return cuStreamSynchronize(reinterpret_cast<CUstream>(event)); }, CUDA_ERROR_INVALID_HANDLE),
      HasSubstr("none that the driver gave"));
  EXPECT_CU(cuStreamDestroy(stream));
  EXPECT_THAT(said([&] { return cuStreamDestroy(stream); }, CUDA_ERROR_INVALID_HANDLE),
              HasSubstr("the stream was destroyed before"));
  EXPECT_CU(cuEventDestroy(event));
  EXPECT_EQ(cuEventRecord(event, gpu.stream()), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamWaitEvent(gpu.stream(), event, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuGraphLaunch(nullptr, gpu.stream()), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_NE(gpu.stream(), stream); // no handle is given twice
}

TEST(EmulatedMisuse, MemoryThatIsNone) {
  const EmulatedGpu gpu;
  CUstream stream = gpu.stream();
  CUdeviceptr memory = gpu.allocate(1000);
  auto *pinned = gpu.pinned(100);
  std::byte pageable[8]{};
  EXPECT_THAT(said([&] { return cuMemsetD8Async(memory + 500, 0, 501, stream); }, CUDA_ERROR_INVALID_VALUE),
              HasSubstr("are not in one allocation: byte 500 of 1000 bytes"));
  EXPECT_EQ(cuMemcpyHtoDAsync(memory + 996, pageable, 8, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoDAsync(memory, pinned + 96, 8, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoDAsync(memory, nullptr, 8, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(said([&] { return cuMemcpyDtoHAsync(reinterpret_cast<void *>(memory), memory, 8, stream); },
                   CUDA_ERROR_INVALID_VALUE),
              HasSubstr("is not memory of the host"));
  EXPECT_EQ(cuMemcpyDtoDAsync(memory, memory + 4, 8, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemFreeHost(pinned));
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(pageable), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(memory + 512), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemFree(memory));
  EXPECT_THAT(said([&] { return cuMemFree(memory); }, CUDA_ERROR_INVALID_VALUE),
              HasSubstr("that were released"));
  EXPECT_EQ(cuMemAlloc(&memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemcpyHtoDAsync(0, nullptr, 0, stream)); // nothing to copy
}

/// No misuse: ranks may be threads.
TEST(EmulatedMisuse, ThreadsMayBeginAtTheSameTime) {
  const auto begin = [] {
    for (int round = 0; round < 300; ++round) {
      CUcontext context = nullptr;
      ASSERT_CU(cuInit(0));
      ASSERT_CU(cuDevicePrimaryCtxRetain(&context, 0));
      ASSERT_CU(cuDevicePrimaryCtxRelease(0));
    }
  };
  std::thread other(begin);
  begin();
  other.join();
}

TEST(EmulatedMisuse, AForkHasNoGpu) {
  const EmulatedGpu gpu;
  const pid_t child = fork();
  if (child == 0) {
    int count = 0;
    _exit(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(EmulatedMisuse, ResultsHaveNames) {
  const char *text = nullptr;
  EXPECT_CU(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_CU(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ(text, "an illegal memory access was encountered");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(1000), &text), CUDA_ERROR_INVALID_VALUE);
}

} // namespace
} // namespace trainc::emulator
