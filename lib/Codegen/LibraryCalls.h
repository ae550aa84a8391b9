// Scheduled ops as library calls, for targets that leave them to libraries.
#pragma once

#include "dialects/NN/NN.h"
#include "lib/Codegen/KernelSummary.h"

namespace trainc::codegen {

/// Whether plans can hold a call that does what `op` does: sums over a batch are none, and elements are f32
/// or, if the library takes them, bf16 and f16, with results as the factors or of f32, or scaled fp8.
bool canBeLibraryProduct(GemmOpInterface op, bool takesShort = false);
/// The same of attention of f32.
bool isLibraryAttention(nn::AttentionOp op);
bool isLibraryAttention(nn::AttentionGradOp op);

/// Whether such a product takes padding behind the rows of `value`, which is among its operands or results.
bool libraryProductTakesPadding(GemmOpInterface op, mlir::Value value);

/// The summaries of such ops, with so many bytes of workspace.
/// `tf32`: factors of f32 may be rounded.
KernelSummary libraryProduct(GemmOpInterface op, int64_t workspaceBytes, bool tf32 = false);
KernelSummary libraryAttention(nn::AttentionOp op, int64_t workspaceBytes);
KernelSummary libraryAttention(nn::AttentionGradOp op, int64_t workspaceBytes);

} // namespace trainc::codegen
