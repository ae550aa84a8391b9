// Scratch memory of kernels' blocks, which depends on the number of threads.
#pragma once

#include "runtime/device/device.h"

#include <optional>
#include <string>

namespace trainc {

/// A warning if the plan's memory limit has no space for that many blocks.
std::optional<std::string> beyondMemoryLimit(const fb::Plan &plan, BlockMemory blocks);

} // namespace trainc
