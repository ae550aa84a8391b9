// The dist dialect: collectives as start/wait pairs, and flat tensors that concatenate others.
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
/// Side-effect resource written by the start and the wait of a collective.
struct Communication : mlir::SideEffects::Resource::Base<Communication> {
  llvm::StringRef getName() final { return "communication"; }
};
} // namespace trainc::dist

#define GET_OP_CLASSES
#include "dialects/Dist/DistOps.h.inc"
