// Shared by the layers' expansions.
#pragma once

#include "dialects/NN/Builders.h"
#include "dialects/NN/Syntax.h"

namespace trainc::nn {

/// What `init` says, or else `kind` with the number `a`.
inline Initializer initializer(InitAttr init, llvm::StringRef kind, double a = 0) {
  if (!init)
    return {kind, a};
  return {init.getKind(), init.getA().getValueAsDouble(), init.getB().getValueAsDouble()};
}

/// Checks that a layer's input is a float tensor of at least `rank` dimensions; else an error at the layer.
inline llvm::LogicalResult checkFloatInput(mlir::Operation *op, mlir::Value x, int64_t rank) {
  if (tensorType(x).getRank() >= rank && llvm::isa<mlir::FloatType>(tensorType(x).getElementType()))
    return mlir::success();
  return op->emitOpError("needs a float input of at least ") << rank << " dimensions, found " << x.getType();
}

/// y plus a bias along the last dimension, `layer.bias`, which starts from zeros; y itself where the layer
/// has `none`.
inline llvm::FailureOr<llvm::SmallVector<mlir::Value>>
addBias(TensorBuilder &b, mlir::Value y, llvm::StringRef layer, bool none, LayerScope &scope) {
  if (none)
    return llvm::SmallVector<mlir::Value>{y};
  mlir::Value bias =
      scope.declareParameter(joinPath(layer, "bias"), typeLike(y, {shapeOf(y).back()}), {"zeros"});
  if (!bias)
    return mlir::failure();
  return llvm::SmallVector<mlir::Value>{b.add(y, b.broadcastTo(bias, shapeOf(y)))};
}

} // namespace trainc::nn
