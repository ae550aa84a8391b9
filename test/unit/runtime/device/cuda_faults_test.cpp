// What a user hears when there is no GPU, no driver, an old one, or no memory. Each case is a process of its
// own, as the emulated driver reads the environment when it starts.
#include "runtime/device/cuda/cuda_device.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <optional>
#include <string>
#include <vector>

namespace trainc::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CudaFaults : public testing::Test {
protected:
  CudaFaults() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  ~CudaFaults() override {
    for (const auto &[name, before] : before_)
      if (before)
        ::setenv(name, before->c_str(), 1);
      else
        ::unsetenv(name);
  }

  /// For the process that a case starts.
  void set(const char *name, const char *value) {
    const char *before = std::getenv(name);
    before_.emplace_back(name, before ? std::optional<std::string>(before) : std::nullopt);
    ::setenv(name, value, 1);
  }

private:
  std::vector<std::pair<const char *, std::optional<std::string>>> before_;
};

/// Ends the process with the status.
[[noreturn]] void leave(const Status &status) {
  std::fputs(status.message().c_str(), stderr);
  std::_Exit(status.exitCode());
}

[[noreturn]] void openAndLeave(CudaPlace place = {}) {
  const auto device = CudaDevice::open(place);
  leave(device.status());
}

TEST_F(CudaFaults, NoDriver) {
  set("LD_LIBRARY_PATH", "/nowhere");
  EXPECT_EXIT(openAndLeave(), testing::ExitedWithCode(1),
              AllOf(HasSubstr("cannot load libcuda.so.1: "), HasSubstr("install the NVIDIA driver")));
}

TEST_F(CudaFaults, OldDriver) {
  set("TRAINC_EMULATOR_DRIVER", "12040");
  EXPECT_EXIT(
      openAndLeave(), testing::ExitedWithCode(1),
      HasSubstr("expected an NVIDIA driver for CUDA 13.0 or newer, found one for CUDA 12.4; install"));
}

TEST_F(CudaFaults, NoGpu) {
  set("TRAINC_EMULATOR_DEVICES", "0");
  EXPECT_EXIT(openAndLeave(), testing::ExitedWithCode(1),
              AllOf(HasSubstr("CUDA_ERROR_NO_DEVICE"), HasSubstr("CUDA_VISIBLE_DEVICES")));
}

TEST_F(CudaFaults, OldGpu) {
  set("TRAINC_EMULATOR_CAPABILITY", "7.5");
  EXPECT_EXIT(openAndLeave(), testing::ExitedWithCode(1),
              HasSubstr("expected compute capability 8.0 or higher (A100, RTX 30 or newer), found 7.5"));
}

TEST_F(CudaFaults, MoreRanksThanGpus) {
  set("TRAINC_EMULATOR_DEVICES", "2");
  EXPECT_EXIT(openAndLeave({.index = 2, .ranks = 4}), testing::ExitedWithCode(2),
              HasSubstr("rank 2 of 4 on this host: expected a GPU for each, found 2; start at most 2 ranks"));
}

TEST_F(CudaFaults, SharesAGpuWhereTheCommunicatorCan) {
  set("TRAINC_EMULATOR_DEVICES", "2");
  EXPECT_EXIT(openAndLeave({.index = 3, .ranks = 4, .mayShare = true}), testing::ExitedWithCode(0), "");
}

TEST_F(CudaFaults, AnErrorHasItsCall) {
  set("TRAINC_EMULATOR_FAULT", "cuStreamCreateWithPriority:2=CUDA_ERROR_UNKNOWN");
  EXPECT_EXIT(openAndLeave(), testing::ExitedWithCode(1),
              HasSubstr("cuStreamCreateWithPriority: CUDA_ERROR_UNKNOWN ("));
}

[[noreturn]] void allocateAndLeave(fb::Space space, uint64_t bytes) {
  const auto device = CudaDevice::open({});
  leave(device.ok() ? (*device)->allocate("scratch", space, bytes, nullptr).status() : device.status());
}

TEST_F(CudaFaults, NoMemoryOnTheGpu) {
  set("TRAINC_EMULATOR_MEMORY", "100000000");
  EXPECT_EXIT(allocateAndLeave(fb::Space::Device, 200000000), testing::ExitedWithCode(1),
              AllOf(HasSubstr("arena 'scratch': expected 200000000 bytes of GPU 0 ("),
                    HasSubstr("free of 100000000")));
}

TEST_F(CudaFaults, NoPinnedMemory) {
  set("TRAINC_EMULATOR_FAULT", "cuMemHostAlloc:3=CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EXIT(allocateAndLeave(fb::Space::Host, 4096), testing::ExitedWithCode(1),
              AllOf(HasSubstr("arena 'scratch': expected 4096 bytes of pinned memory of the host"),
                    HasSubstr("ulimit -l")));
}

TEST_F(CudaFaults, ACopyFailsLater) {
  set("TRAINC_EMULATOR_FAULT", "cuMemcpyHtoDAsync:1=CUDA_ERROR_LAUNCH_FAILED");
  const auto writeAndLeave = [] {
    const auto device = CudaDevice::open({});
    const DeviceAddress address = *(*device)->allocate("test", fb::Space::Device, 4, nullptr);
    const float value = 1;
    (*device)->write(address, std::as_bytes(std::span(&value, 1)));
    leave((*device)->synchronise());
  };
  EXPECT_EXIT(writeAndLeave(), testing::ExitedWithCode(1),
              HasSubstr("cuMemcpyHtoDAsync_v2: CUDA_ERROR_LAUNCH_FAILED"));
}

} // namespace
} // namespace trainc::test
