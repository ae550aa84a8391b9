// Limits of CPU code.
#pragma once

#include "lib/Codegen/Target.h"

namespace trainc::codegen {

/// Buffers are aligned to a cache line, which is also the widest vector. A block's rows stay in the L2 cache.
inline constexpr TargetLimits kCpuLimits{.bufferAlignment = 64, .longestRow = 65536, .blockBytes = 256 << 10};

} // namespace trainc::codegen
