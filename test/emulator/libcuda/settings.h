// Settings of the emulated GPUs from the environment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainc::emulator {

struct Settings {
  uint64_t seed = 1;                   ///< TRAINC_EMULATOR_SEED, for orders and delays
  uint64_t memory = uint64_t{4} << 30; ///< TRAINC_EMULATOR_MEMORY, bytes per device
  int major = 9, minor = 0;            ///< TRAINC_EMULATOR_CAPABILITY
  int driver = 13000;                  ///< TRAINC_EMULATOR_DRIVER, version
  std::string name = "emulated GPU";   ///< TRAINC_EMULATOR_NAME of each device, followed by its number
  /// Numbers of the visible devices (0 is the fastest) among TRAINC_EMULATOR_DEVICES, selected by
  /// CUDA_VISIBLE_DEVICES, which counts by CUDA_DEVICE_ORDER.
  std::vector<uint32_t> devices{0};

  /// An invalid variable ends the process with a message.
  static Settings fromEnvironment();
};

} // namespace trainc::emulator
