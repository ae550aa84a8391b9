// Semantic verification of a plan, after FlatBuffers has verified its structure.
#pragma once

#include "base/status.h"
#include "plan/schema/limits.h"
#include "plan/schema/plan_generated.h"

namespace trainc {

/// Alignment of launch operands; in a loop, that of the first iteration. Kernels must assume that later
/// iterations are aligned to an element only, because the length of a slice of rows depends on the model's
/// sizes.
inline constexpr uint64_t kLaunchAlignment = 64;
/// Maximum excess of an arena over the end of its buffers.
inline constexpr uint64_t kArenaSlack = uint64_t{2} << 20;
/// Upper bound (exclusive) of the excess of a buffer used by the interface (input, scalar, logits) over its
/// tensor.
inline constexpr uint64_t kBufferSlack = 64;
/// Upper bound (exclusive) of the padding before a state in a flat tensor, and per rank of the padding after
/// the last one.
inline constexpr uint64_t kPartSlack = 4096;
/// Upper bound (exclusive) of the padding of one rank's flat tensor, which consists of chunks.
inline constexpr uint64_t kChunkSlack = 1024;

/// Verifies `plan`, which must have passed the FlatBuffers verifier. A verified plan accesses no byte outside
/// the arenas, provided that each kernel stays within its parameters' bytes. Errors (kInvalidInput) name the
/// table, or the instruction (entry and index) with its source op, and say what was expected and found.
Status verifyPlan(const fb::Plan &plan);

} // namespace trainc
