// The first GPU, emulated or real.
#pragma once

#include "runtime/device/cuda/cuda_device.h"

#include <gtest/gtest.h>
#include <memory>

namespace trainc::test {

inline std::unique_ptr<Device> firstGpu() {
  auto device = CudaDevice::open({});
  EXPECT_TRUE(device.ok()) << device.status().message();
  return std::move(*device);
}

} // namespace trainc::test
