// The memory of kernels' blocks, which depends on the threads of the machine.
#pragma once

#include "runtime/device/device.h"

#include <optional>
#include <string>

namespace trainc {

/// A warning if the plan was compiled with a memory limit in which there is no room for so many blocks.
std::optional<std::string> beyondMemoryLimit(const fb::Plan &plan, BlockMemory blocks);

} // namespace trainc
