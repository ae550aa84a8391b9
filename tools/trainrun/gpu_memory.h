// GPU memory: whether a plan fits, and what a run has used.
#pragma once

#include "runtime/device/device.h"

#include <optional>
#include <string>

namespace trainc {

/// Call it before a plan is bound to the device. Fails with kFailed if the arenas exceed the free memory.
/// Returns a warning if the arenas fit, but not together with the plan's reserve (reserve_memory). Nothing
/// for devices that use process memory.
Result<std::optional<std::string>> checkGpuMemory(const fb::Plan &plan, const Device &device);

/// A line after a run: "GPU memory: 61.2 GiB in arenas; besides 495 MiB before the run (...), ...", and
/// whether the use exceeds the plan's reserve. Nothing for devices that use process memory, and for a
/// device that has failed.
std::optional<std::string> describeGpuMemory(const fb::Plan &plan, const Device &device);

} // namespace trainc
