// The dist dialect: collectives between ranks, as pairs of start and wait, and tensors in one flat piece.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Interfaces/Interfaces.h"

#include "dialects/Dist/DistDialect.h.inc"

namespace trainc::dist {
/// What starts and waits of collectives write to.
struct Communication : mlir::SideEffects::Resource::Base<Communication> {
  llvm::StringRef getName() final { return "communication"; }
};
} // namespace trainc::dist

#define GET_OP_CLASSES
#include "dialects/Dist/DistOps.h.inc"
