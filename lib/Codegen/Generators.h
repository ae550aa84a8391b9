// The generators of the kernel classes other than Rows.
#pragma once

#include "dialects/NN/NN.h"
#include "lib/Codegen/Codegen.h"

namespace trainc::codegen {

/// A launch for each box of elements that move together, or of zeros.
GeneratedKernels generateCopy(StridedCopyOpInterface op, mlir::ModuleOp kernels);

/// nn.scatter_add: each tile owns a strip of the table's columns and walks over all ids, so that equal ids
/// add up in order.
GeneratedKernels generateScatter(nn::ScatterAddOp op, mlir::ModuleOp kernels);

/// A matrix product: each tile is a block of C.
GeneratedKernels generateGemm(GemmOpInterface op, mlir::ModuleOp kernels);

/// nn.attention: each tile is a block of queries of one head.
GeneratedKernels generateAttention(nn::AttentionOp op, mlir::ModuleOp kernels);

/// nn.attention_grad: launches for rowsum(dout out), then dq by blocks of queries, then dk and dv by blocks
/// of keys.
GeneratedKernels generateAttentionGrad(nn::AttentionGradOp op, mlir::ModuleOp kernels);

} // namespace trainc::codegen
