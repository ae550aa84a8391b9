// The dist dialect: collectives between ranks, as pairs of start and wait, and tensors in one flat piece.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace trainc::dist {

/// Nothing but a dist.wait may use the result.
llvm::LogicalResult verifyStart(mlir::Operation *op);

/// The trait of ops that begin a collective.
template <typename Op> struct StartsCollective : mlir::OpTrait::TraitBase<Op, StartsCollective> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifyStart(op); }
};

} // namespace trainc::dist

#include "dialects/Dist/DistDialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/Dist/DistOps.h.inc"
