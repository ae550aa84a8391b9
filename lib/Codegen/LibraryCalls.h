// Summaries of scheduled ops that a library executes.
#pragma once

#include "dialects/NN/NN.h"
#include "lib/Codegen/KernelSummary.h"

namespace trainc::codegen {

/// Whether plans have a library call for `op`. Sums over a batch have none. Elements are f32 or, with
/// `takesShort`, bf16 and f16 (results have the factors' type or f32) and scaled fp8.
bool canBeLibraryProduct(GemmOpInterface op, bool takesShort = false);
/// Whether plans have a library call for the attention, with all that it masks. Elements are f32 or, with
/// `takesShort`, also bf16 and f16. A target's library may compute less.
bool canBeLibraryAttention(nn::AttentionOp op, bool takesShort = false);
bool canBeLibraryAttention(nn::AttentionGradOp op, bool takesShort = false);

/// Whether the library product supports padding after the rows of `value`, an operand or result.
bool libraryProductTakesPadding(GemmOpInterface op, mlir::Value value);

/// Return the summaries of such ops with a workspace of `workspaceBytes`. With `tf32`, f32 factors may be
/// rounded.
KernelSummary libraryProduct(GemmOpInterface op, int64_t workspaceBytes, bool tf32 = false);
KernelSummary libraryAttention(nn::AttentionOp op, int64_t workspaceBytes);
KernelSummary libraryAttention(nn::AttentionGradOp op, int64_t workspaceBytes);

} // namespace trainc::codegen
