// What the bytes of a plan's arenas are for.
#pragma once

#include "runtime/schema/plan_generated.h"

#include <array>
#include <cstdint>

namespace trainc {

/// Bytes of all arenas by fb::Role; they sum to the arenas' sizes. Bytes that several buffers share in turn
/// count for the first of the roles in the order of fb::Role; bytes of no buffer count as workspace.
std::array<uint64_t, 7> memoryByRole(const fb::Plan &plan);

} // namespace trainc
