// Library calls on the CPU: plain code, right and slow.
#pragma once

#include "runtime/base/status.h"
#include "runtime/device/cpu/tile_runner.h"
#include "runtime/schema/plan_generated.h"

namespace trainc {

/// Runs a matrix product; `args` are its operands in the order of ProductOperand, null for those that it has
/// not. Sums are made in f32, in blocks of terms, in an order that follows from the sizes alone.
void runMatrixProduct(const fb::MatrixProduct &call, void *const *args, const TileRunner &tiles);

/// Runs attention or its gradient likewise; `args` as in AttentionOperand.
void runAttention(const fb::Attention &call, void *const *args, const TileRunner &tiles);

/// Fails (kInvalidInput) where a call, if the instruction is one, has less workspace than it needs here
/// (runtime/schema/cpu_workspace.h).
Status checkLibraryWorkspace(const fb::Instruction &instruction);

} // namespace trainc
