// A PTX text, read once into the form that is executed.
#pragma once

#include "runtime/base/status.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trainc::emulator {

struct PtxProgram;

/// Where an argument lies in the parameters of a launch.
struct PtxParameter {
  uint32_t offset, bytes;
};

/// An `.entry`.
struct PtxFunction {
  std::string name;
  std::vector<PtxParameter> parameters;
  uint32_t parameterBytes = 0;
  uint32_t sharedBytes = 0; ///< static ones; dynamic ones begin behind them
  uint32_t localBytes = 0;  ///< of a thread
  uint32_t maxThreads = 0;  ///< of a block, as `.maxntid` or `.reqntid` says; else 1024
  /// The size of all blocks, as `.reqntid` says; else 0.
  std::array<uint32_t, 3> requiredBlock{};
  uint32_t registers = 0; ///< of a thread, as declared: virtual ones
  std::shared_ptr<const PtxProgram> program;
};

/// What a driver makes of a PTX text. Its `.global` variables live as long as it.
class PtxModule {
public:
  /// Fails (kInvalidInput) with the line of what is no PTX, or of an instruction that the emulator lacks.
  static Result<PtxModule> parse(std::string_view text);

  const PtxFunction *find(std::string_view name) const;

private:
  std::vector<std::unique_ptr<PtxFunction>> functions_;
};

} // namespace trainc::emulator
