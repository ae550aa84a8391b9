// The second step of loading a plan: its meaning, after FlatBuffers has verified its structure.
#pragma once

#include "runtime/base/status.h"
#include "runtime/schema/limits.h"
#include "runtime/schema/plan_generated.h"

namespace trainc {

/// Launch operands start on this border, in a loop those of the first iteration. Later ones start on any
/// element: a slice of rows is as long as the model's sizes make it, so kernels must not count on more.
inline constexpr uint64_t kLaunchAlignment = 64;
/// Arenas are at most this much larger than their buffers need.
inline constexpr uint64_t kArenaSlack = uint64_t{2} << 20;
/// A buffer named by the interface (input, scalar, logits) is less than this much larger than its
/// tensor.
inline constexpr uint64_t kBufferSlack = 64;
/// What fills up to a border before a state in a flat tensor is less than this much, and what fills up the
/// ranks' parts after the last one less than this much a rank.
inline constexpr uint64_t kPartSlack = 4096;
/// What fills up the flat tensor of one rank, which is a number of chunks, is less than this much.
inline constexpr uint64_t kChunkSlack = 1024;

/// Verifies `plan`, which must have passed the FlatBuffers verifier. What passes can be executed without
/// touching a byte outside the arenas, provided that each kernel keeps within its parameters' bytes. Errors
/// (kInvalidInput) name the table, or the instruction (entry and index) with its source op, and say what was
/// expected and found.
Status verifyPlan(const fb::Plan &plan);

} // namespace trainc
