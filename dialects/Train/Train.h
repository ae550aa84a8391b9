// The train dialect: the training program, and the entries and state of a step.
#pragma once

#include "dialects/NN/NN.h"
#include "dialects/Plan/Plan.h"

namespace trainc::train {
/// What train.get reads and train.set writes.
struct StateResource : mlir::SideEffects::Resource::Base<StateResource> {
  llvm::StringRef getName() final { return "train.state"; }
};
/// What train.input reads; no op writes it.
struct BatchResource : mlir::SideEffects::Resource::Base<BatchResource> {
  llvm::StringRef getName() final { return "train.batch"; }
};
/// What train.border writes, so that no pass takes it for dead.
struct BorderResource : mlir::SideEffects::Resource::Base<BorderResource> {
  llvm::StringRef getName() final { return "train.border"; }
};
/// What train.minimize and train.gradient give to the optimizer pass.
struct GradientResource : mlir::SideEffects::Resource::Base<GradientResource> {
  llvm::StringRef getName() final { return "train.gradient"; }
};
} // namespace trainc::train

#include "dialects/Train/TrainDialect.h.inc"
#include "dialects/Train/TrainEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Train/TrainAttributes.h.inc"

#define GET_OP_CLASSES
#include "dialects/Train/TrainOps.h.inc"

namespace trainc::train {
/// The module's state that is exchanged with the host as `scalar`, or null.
StateOp findScalar(mlir::ModuleOp module, HostScalar scalar);
/// The module's entry of that kind, which is made behind `after`, and empty, if there is none.
EntryOp declareEntry(mlir::ModuleOp module, EntryKind kind, mlir::Operation *after);
} // namespace trainc::train
