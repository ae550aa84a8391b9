// Arena bytes of a plan by role.
#pragma once

#include "plan/schema/plan_generated.h"

#include <array>
#include <cstdint>

namespace trainc {

/// Bytes of all arenas by fb::Role. Their sum is the size of all arenas. Bytes that several buffers use in
/// turn count for the first of their roles in the order of fb::Role; bytes of no buffer count as workspace.
std::array<uint64_t, 7> memoryByRole(const fb::Plan &plan);

} // namespace trainc
