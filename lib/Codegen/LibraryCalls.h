// Scheduled ops as library calls, for targets that leave them to libraries.
#pragma once

#include "dialects/NN/NN.h"
#include "lib/Codegen/KernelSummary.h"

namespace trainc::codegen {

/// Whether plans can hold a call that does what `op` does: sums over a batch are none, and elements are f32.
bool canBeLibraryProduct(GemmOpInterface op);
bool isLibraryAttention(nn::AttentionOp op);
bool isLibraryAttention(nn::AttentionGradOp op);

/// The summaries of such ops, with so many bytes of workspace.
KernelSummary libraryProduct(GemmOpInterface op, int64_t workspaceBytes);
KernelSummary libraryAttention(nn::AttentionOp op, int64_t workspaceBytes);
KernelSummary libraryAttention(nn::AttentionGradOp op, int64_t workspaceBytes);

} // namespace trainc::codegen
