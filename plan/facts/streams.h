// The number of streams, of which tables have one element each.
#pragma once

#include "plan/schema/plan_generated.h"

namespace trainc {

inline constexpr size_t kStreams = static_cast<size_t>(fb::Stream::MAX) + 1;

} // namespace trainc
