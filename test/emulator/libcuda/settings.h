// What the environment says of the emulated GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainc::emulator {

struct Settings {
  uint64_t seed = 1;                   ///< TRAINC_EMULATOR_SEED: of orders and delays
  uint64_t memory = uint64_t{4} << 30; ///< TRAINC_EMULATOR_MEMORY: bytes of a device
  int major = 9, minor = 0;            ///< TRAINC_EMULATOR_CAPABILITY
  int driver = 13000;                  ///< TRAINC_EMULATOR_DRIVER: version
  std::string name = "emulated GPU";   ///< TRAINC_EMULATOR_NAME: of each device, before its number
  /// Those of the TRAINC_EMULATOR_DEVICES devices that CUDA_VISIBLE_DEVICES names, in its order, by their
  /// numbers: the fastest has 0. CUDA_DEVICE_ORDER says what it counts by.
  std::vector<uint32_t> devices{0};

  /// Ends the process with a message when a variable is wrong.
  static Settings fromEnvironment();
};

} // namespace trainc::emulator
