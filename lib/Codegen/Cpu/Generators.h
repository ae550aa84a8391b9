// Kernel classes on the CPU: for each, a summary of its kernels without code, and their code, as symbols of
// the summary's launches.
#pragma once

#include "dialects/NN/NN.h"
#include "lib/Codegen/Fp32Products.h"
#include "lib/Codegen/Kernels/Rows.h"

#include "mlir/IR/BuiltinOps.h"

namespace trainc::codegen {

/// One launch for each box of elements, or of zeros.
KernelSummary summariseCopy(StridedCopyOpInterface op);
Symbols generateCopy(StridedCopyOpInterface op, KernelModule &kernels);

/// nn.scatter_add: each tile owns a strip of the table's columns and processes all ids, so that updates of
/// equal ids are added in order.
KernelSummary summariseScatter(nn::ScatterAddOp op);
Symbols generateScatter(nn::ScatterAddOp op, KernelModule &kernels);

/// Matrix product: each tile is a block of C.
KernelSummary summariseGemm(GemmOpInterface op, Fp32Products products);
Symbols generateGemm(GemmOpInterface op, KernelModule &kernels);

/// nn.attention: each tile is a block of queries of one head.
KernelSummary summariseAttention(nn::AttentionOp op);
Symbols generateAttention(nn::AttentionOp op, KernelModule &kernels);

/// nn.attention_grad: launches for rowsum(dout out), then dq by blocks of queries, then dk and dv by blocks
/// of keys.
KernelSummary summariseAttentionGrad(nn::AttentionGradOp op);
Symbols generateAttentionGrad(nn::AttentionGradOp op, KernelModule &kernels);

} // namespace trainc::codegen
