// The device that a test of the runtime runs on.
#pragma once

#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/emulated/emulated_device.h"

#include <cstdlib>
#include <memory>
#include <string_view>

namespace trainc::test {

/// The CPU; or where the environment says TRAINC_TEST_SEED=N, the emulated asynchronous device with that
/// seed.
inline std::unique_ptr<Device> testDevice(unsigned threads = 1) {
  if (const char *seed = std::getenv("TRAINC_TEST_SEED"))
    return std::make_unique<EmulatedDevice>(threads, std::strtoull(seed, nullptr, 10));
  return std::make_unique<CpuDevice>(threads);
}

} // namespace trainc::test
