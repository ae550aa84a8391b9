// The memory of a GPU: whether a plan fits, and what a run has taken.
#pragma once

#include "runtime/device/device.h"

#include <optional>
#include <string>

namespace trainc {

/// Before a plan is bound to the device. Fails (kFailed) when its arenas are larger than what is free; a
/// warning when they are not, and what the plan reserves besides (reserve_memory) is. Nothing of devices
/// whose memory is the process's.
Result<std::optional<std::string>> checkGpuMemory(const fb::Plan &plan, const Device &device);

/// After a run, one line: "GPU memory: 61.2 GiB in arenas; besides 495 MiB before the run (...), ...", and
/// whether that is more than the plan reserves. Nothing of other devices, and of one that has failed.
std::optional<std::string> describeGpuMemory(const fb::Plan &plan, const Device &device);

} // namespace trainc
