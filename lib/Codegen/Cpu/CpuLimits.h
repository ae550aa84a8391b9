// What generators of CPU code keep to.
#pragma once

#include "lib/Codegen/Target.h"

namespace trainc::codegen {

/// A cache line is 64 bytes, and so is the widest vector. A block's rows stay in the second-level cache.
inline constexpr TargetLimits kCpuLimits{.bufferAlignment = 64, .longestRow = 65536, .blockBytes = 256 << 10};

} // namespace trainc::codegen
