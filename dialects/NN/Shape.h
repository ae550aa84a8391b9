// What ops that reduce, repeat or move elements share.
#pragma once

#include "dialects/NN/Builders.h"

namespace trainc::nn {

/// `dim` counted from the front; an error where `x` (operand `name`) has no such dimension.
llvm::FailureOr<int64_t> checkDim(int64_t dim, llvm::StringRef name, mlir::Value x, InferError error);
/// One result type: `shape` with the element type of `like`.
llvm::FailureOr<llvm::SmallVector<mlir::Type>> single(mlir::Value like, llvm::ArrayRef<int64_t> shape);
/// Row-major strides, in elements.
llvm::SmallVector<int64_t> stridesOf(mlir::Value value);
/// Labels of an IndexingRule: one for each dimension.
llvm::SmallVector<int> labelsOf(mlir::Value value);
/// The same number in the result's shape where the operand is one.
mlir::OpFoldResult foldMove(mlir::Attribute constant, mlir::Value result);
/// The same, and `x` where equal types mean that the op changes nothing.
mlir::OpFoldResult foldSameType(mlir::Value x, mlir::Attribute constant, mlir::Value result);

} // namespace trainc::nn
