// A GPU of the emulated driver, for tests.
#pragma once

#include "test/emulator/libcuda/extension.h"

#include <atomic>
#include <cstdlib>
#include <cuda.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#define EXPECT_CU(call) EXPECT_EQ(call, CUDA_SUCCESS)
#define ASSERT_CU(call) ASSERT_EQ(call, CUDA_SUCCESS)

/// Skips a test that deliberately omits a wait, which ThreadSanitizer would report.
#ifdef __SANITIZE_THREAD__
#define TRAINC_RACES_ON_PURPOSE() GTEST_SKIP() << "a race on purpose"
#else
#define TRAINC_RACES_ON_PURPOSE() static_cast<void>(0)
#endif

namespace trainc::emulator {

/// Orders that a test tries.
constexpr uint64_t kSeeds = 40;

/// The current value, which the device may be changing.
inline int peek(const volatile int *address) { return *address; }

/// Device 0, current on this thread, until it goes; with it go its variables of the environment.
class EmulatedGpu {
public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  explicit EmulatedGpu(uint64_t seed) : EmulatedGpu({{"TRAINC_EMULATOR_SEED", std::to_string(seed)}}) {}
  explicit EmulatedGpu(Variables variables = {}) : variables_(std::move(variables)) {
    for (const auto &[name, value] : variables_)
      setenv(name.c_str(), value.c_str(), 1);
    EXPECT_CU(cuInit(0));
    EXPECT_CU(cuDevicePrimaryCtxRetain(&context, 0));
    EXPECT_CU(cuCtxSetCurrent(context));
  }
  EmulatedGpu(const EmulatedGpu &) = delete;
  EmulatedGpu &operator=(const EmulatedGpu &) = delete;
  ~EmulatedGpu() {
    cuCtxSetCurrent(nullptr);
    EXPECT_CU(cuDevicePrimaryCtxRelease(0));
    for (const auto &[name, value] : variables_)
      unsetenv(name.c_str());
  }

  CUdeviceptr allocate(size_t bytes) const {
    CUdeviceptr address = 0;
    EXPECT_CU(cuMemAlloc(&address, bytes));
    return address;
  }
  template <typename T = std::byte> T *pinned(size_t count) const {
    void *address = nullptr;
    EXPECT_CU(cuMemHostAlloc(&address, count * sizeof(T), 0));
    return static_cast<T *>(address);
  }
  CUstream stream() const {
    CUstream made = nullptr;
    EXPECT_CU(cuStreamCreateWithPriority(&made, CU_STREAM_NON_BLOCKING, 0));
    return made;
  }
  CUevent event(unsigned flags = CU_EVENT_DEFAULT) const {
    CUevent made = nullptr;
    EXPECT_CU(cuEventCreate(&made, flags));
    return made;
  }
  /// Waits for the stream, and reads a number from memory.
  template <typename T> T read(CUdeviceptr address, CUstream stream) const {
    T value{};
    EXPECT_CU(cuMemcpyDtoHAsync(&value, address, sizeof value, stream)); // pageable: it waits
    return value;
  }
  template <typename T> void write(CUdeviceptr address, T value, CUstream stream) const {
    EXPECT_CU(cuMemcpyHtoDAsync(address, &value, sizeof value, stream));
  }
  /// Orders later work of `to` after the current work of `from`.
  void order(CUstream from, CUstream to) const {
    CUevent done = event(CU_EVENT_DISABLE_TIMING);
    EXPECT_CU(cuEventRecord(done, from));
    EXPECT_CU(cuStreamWaitEvent(to, done, 0));
    EXPECT_CU(cuEventDestroy(done));
  }

  CUcontext context = nullptr;

private:
  Variables variables_;
};

/// Blocks streams, so that the work enqueued meanwhile becomes ready at once.
class Gate {
public:
  void hold(CUstream stream) {
    EXPECT_CU(emulatorEnqueueWhen(
        stream, "a gate", [this] { return isOpen_.load(); }, [] { return std::optional<std::string>(); }));
  }
  void open() { isOpen_ = true; }

private:
  std::atomic<bool> isOpen_ = false;
};

/// Numbers in the order in which the device comes to them.
class Journal {
public:
  void enqueue(CUstream stream, int number) {
    EXPECT_CU(emulatorEnqueue(stream, "a note", [this, number] {
      notes.push_back(number);
      return std::optional<std::string>();
    }));
  }
  std::vector<int> notes;
};

} // namespace trainc::emulator
