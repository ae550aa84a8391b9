// The first GPU, emulated or real.
#pragma once

#include "runtime/device/cuda/cuda_device.h"

#include <gtest/gtest.h>
#include <memory>

namespace trainc::test {

inline std::unique_ptr<Device> firstGpu() {
  auto device = CudaDevice::open({}, /*nccl=*/nullptr, /*threads=*/4);
  EXPECT_TRUE(device.ok()) << device.status().message();
  return std::move(*device);
}

/// Whether it is emulated, and computes as exactly as f32 allows. A GPU's libraries may approximate.
inline bool isEmulated(const Device &gpu) {
  return gpu.description().find("emulated GPU") != std::string::npos;
}

} // namespace trainc::test
