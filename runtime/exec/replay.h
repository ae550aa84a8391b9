// Finding the instruction that produced the first value that is not finite.
#pragma once

#include "runtime/device/device.h"
#include "runtime/exec/control_channel.h"
#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <optional>
#include <string>

namespace trainc {

/// The first write of a value that is not finite.
struct NonFinite {
  const fb::Source *source; ///< the op that the instruction came from
  std::string instruction;  ///< e.g. "entry micro_step, instruction 17 (kernel gelu_5f3a), iteration 2"
  std::string buffer;       ///< name of the buffer written
  uint64_t index;           ///< element within the range written
  float value;
  std::optional<uint32_t> rank; ///< whose write it was, where there are several

  /// One line that names all of the above.
  std::string message() const;
};

/// Runs the steps of an entry one by one and scans the f32 ranges that each has written for the first value
/// that is not finite: of all ranks, of several at the same instruction on the lowest one. A rank alone stops
/// there; among several it goes on to the end, as the others wait for its part in collectives. Fails as
/// Device::synchronise() does.
Result<std::optional<NonFinite>> replayProgram(Executable &executable, Device &device,
                                               ControlChannel &control);

} // namespace trainc
