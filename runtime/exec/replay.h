// Search for the instruction that produced the first non-finite value.
#pragma once

#include "plan/schema/plan_generated.h"
#include "runtime/device/device.h"
#include "runtime/exec/control_channel.h"

#include <cstdint>
#include <optional>
#include <string>

namespace trainc {

/// The first write of a non-finite value.
struct NonFinite {
  const fb::Source *source; ///< source op of the instruction
  std::string instruction;  ///< e.g. "entry micro_step, instruction 17 (kernel gelu_5f3a), iteration 2"
  std::string buffer;       ///< name of the buffer written
  uint64_t index;           ///< element index within the written range
  float value;
  std::optional<uint32_t> rank; ///< the rank that wrote it, if there are several

  /// One line with all of the above.
  std::string message() const;
};

/// Runs the steps of an entry one by one and scans the f32 ranges that each has written for the first
/// non-finite value. Returns the first one over all ranks; of several at the same instruction, that of the
/// lowest rank. A single rank stops at the first value. One of several ranks continues to the end, because
/// the others wait for it in collectives. Fails like Device::synchronise().
Result<std::optional<NonFinite>> replayProgram(Executable &executable, Device &device,
                                               ControlChannel &control);

} // namespace trainc
