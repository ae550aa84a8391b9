// Shape helpers of ops that reduce, repeat or move elements.
#pragma once

#include "dialects/NN/Builders.h"

namespace trainc::nn {

/// Returns `dim` counted from the front. Fails with an error if `x` (operand `name`) has no such dimension.
llvm::FailureOr<int64_t> checkDim(int64_t dim, llvm::StringRef name, mlir::Value x, InferError error);
/// Returns one result type: `shape` with the element type of `like`.
llvm::FailureOr<llvm::SmallVector<mlir::Type>> single(mlir::Value like, llvm::ArrayRef<int64_t> shape);
/// Row-major strides, in elements.
llvm::SmallVector<int64_t> stridesOf(mlir::Value value);
/// Returns labels of an IndexingRule, a different one for each dimension.
llvm::SmallVector<int> labelsOf(mlir::Value value);
/// Folds an op that moves elements of a splat constant to a splat of the result's shape.
mlir::OpFoldResult foldMove(mlir::Attribute constant, mlir::Value result);
/// Folds as foldMove, and also to `x` if the op does not change the type.
mlir::OpFoldResult foldSameType(mlir::Value x, mlir::Attribute constant, mlir::Value result);

} // namespace trainc::nn
