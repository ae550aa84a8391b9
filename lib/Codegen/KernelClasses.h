// Dispatch of an op with generated code to its kernel class.
#pragma once

#include "dialects/Dist/Dist.h"
#include "dialects/NN/NN.h"

namespace trainc::codegen {

/// Calls `visit` with `op` cast to the op or interface of its kernel class. `op` must be isGenerated() or a
/// dist.rank_sum. All calls return `Result`.
template <typename Result, typename Visitor> Result visitKernelClass(mlir::Operation *op, Visitor visit) {
  switch (mlir::cast<ExecutableOpInterface>(op).getKernelClass()) {
  case KernelClass::Rows:
    return visit(mlir::cast<nn::KernelOp>(op));
  case KernelClass::StridedCopy:
    return visit(mlir::cast<StridedCopyOpInterface>(op));
  case KernelClass::Scatter:
    return visit(mlir::cast<nn::ScatterAddOp>(op));
  case KernelClass::RowCopy:
    return visit(mlir::cast<nn::ScatterOp>(op));
  case KernelClass::Gemm:
    return visit(mlir::cast<GemmOpInterface>(op));
  case KernelClass::Attention:
    return visit(mlir::cast<nn::AttentionOp>(op));
  case KernelClass::AttentionGrad:
    return visit(mlir::cast<nn::AttentionGradOp>(op));
  case KernelClass::RankSum:
    return visit(mlir::cast<dist::RankSumOp>(op));
  case KernelClass::Alias:
  case KernelClass::Pack:
  case KernelClass::Collective:
  case KernelClass::Wait:
  case KernelClass::Loop:
    break;
  }
  llvm_unreachable("an op that runs no generated code");
}

} // namespace trainc::codegen
