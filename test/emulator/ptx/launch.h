// One launch of a kernel on the emulated GPU.
#pragma once

#include "base/status.h"
#include "test/emulator/device_memory.h"
#include "test/emulator/ptx/module.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace trainc::emulator {

struct PtxLaunch {
  const PtxFunction *function;
  std::array<uint32_t, 3> grid, block;
  uint32_t dynamicSharedBytes;
  std::span<const std::byte> parameters;
};

/// Runs all blocks, in an order determined by `seed`. Fails with an error as of compute-sanitizer (kernel,
/// block, thread, PTX line, address). Deterministic in launch, memory and seed.
Status run(const PtxLaunch &, DeviceMemory &, uint64_t seed);

} // namespace trainc::emulator
