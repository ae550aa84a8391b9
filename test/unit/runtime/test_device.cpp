#include "test/unit/runtime/test_device.h"

#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/emulated/emulated_device.h"
#include "test/unit/plan/plans/cuda_plan.h"
#ifdef TRAINC_TEST_ON_CUDA
#include "runtime/device/cuda/cuda_device.h"
#endif

#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

namespace trainc::test {

namespace {

std::unique_ptr<Device> firstGpu() {
#ifdef TRAINC_TEST_ON_CUDA
  auto device = CudaDevice::open({});
  if (device.ok())
    return std::move(*device);
  fmt::print(stderr, "TRAINC_TEST_DEVICE=cuda: {}\n", device.status().message());
#else
  fmt::print(stderr, "TRAINC_TEST_DEVICE=cuda: this was built without CUDA's headers\n");
#endif
  std::abort();
}

} // namespace

bool testsOnCuda() {
  const char *name = std::getenv("TRAINC_TEST_DEVICE");
  return name && std::string_view(name) == "cuda";
}

std::unique_ptr<Device> testDevice(unsigned threads) {
  if (testsOnCuda())
    return firstGpu();
  if (const char *seed = std::getenv("TRAINC_TEST_SEED"))
    return std::make_unique<EmulatedDevice>(threads, std::strtoull(seed, nullptr, 10));
  return std::make_unique<CpuDevice>(threads);
}

PlanBuilder forTestDevice(PlanBuilder builder) {
  return testsOnCuda() ? forCuda(std::move(builder)) : std::move(builder);
}

} // namespace trainc::test
