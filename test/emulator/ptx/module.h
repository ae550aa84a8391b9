// A PTX text in executable form.
#pragma once

#include "base/status.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trainc::emulator {

struct PtxProgram;

/// Offset and size of an argument in a launch's parameters.
struct PtxParameter {
  uint32_t offset, bytes;
};

/// An `.entry`.
struct PtxFunction {
  std::string name;
  std::vector<PtxParameter> parameters;
  uint32_t parameterBytes = 0;
  uint32_t sharedBytes = 0; ///< static; dynamic memory begins after it
  uint32_t localBytes = 0;  ///< per thread
  uint32_t maxThreads = 0;  ///< per block, from `.maxntid` or `.reqntid`; else 1024
  /// Block size from `.reqntid`; else 0.
  std::array<uint32_t, 3> requiredBlock{};
  uint32_t registers = 0; ///< per thread, as declared (virtual registers)
  std::shared_ptr<const PtxProgram> program;
};

/// A loaded PTX module. It owns its `.global` variables.
class PtxModule {
public:
  /// Fails with kInvalidInput and the line of invalid PTX, or of an instruction that the emulator lacks.
  static Result<PtxModule> parse(std::string_view text);

  const PtxFunction *find(std::string_view name) const;

private:
  std::vector<std::unique_ptr<PtxFunction>> functions_;
};

} // namespace trainc::emulator
