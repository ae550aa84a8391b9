// Library calls on the CPU: a plain implementation, correct but slow.
#pragma once

#include "base/status.h"
#include "plan/schema/plan_generated.h"
#include "runtime/device/cpu/tile_runner.h"

namespace trainc {

/// Runs a matrix product; `args` are the operands in the order of ProductOperand, null for absent ones. Sums
/// accumulate in f32, in blocks of terms, in an order that depends only on the sizes.
void runMatrixProduct(const fb::MatrixProduct &call, void *const *args, const TileRunner &tiles);

/// Runs attention or its gradient; `args` in the order of AttentionOperand, null for absent ones.
void runAttention(const fb::Attention &call, void *const *args, const TileRunner &tiles);

/// Fails with kInvalidInput if the instruction is a library call whose workspace is smaller than this
/// implementation needs (plan/schema/cpu_workspace.h).
Status checkLibraryWorkspace(const fb::Instruction &instruction);

} // namespace trainc
