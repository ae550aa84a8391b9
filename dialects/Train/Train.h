// The train dialect: the training program, and the entries and state of a step.
#pragma once

#include "dialects/NN/NN.h"
#include "dialects/Plan/Plan.h"

#include <optional>
#include <string_view>

namespace trainc::train {
/// Side-effect resource that train.get reads and train.set writes.
struct StateResource : mlir::SideEffects::Resource::Base<StateResource> {
  llvm::StringRef getName() final { return "train.state"; }
};
/// Side-effect resource that train.input reads; no op writes it.
struct BatchResource : mlir::SideEffects::Resource::Base<BatchResource> {
  llvm::StringRef getName() final { return "train.batch"; }
};
/// Side-effect resource that train.block_use writes, so that no pass erases it as dead.
struct BlockUseResource : mlir::SideEffects::Resource::Base<BlockUseResource> {
  llvm::StringRef getName() final { return "train.block_use"; }
};
/// Side-effect resource that train.minimize and train.gradient write for the optimizer pass.
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
struct Setting;

/// A program as a source of settings (plan/settings/setting.h). Its verifier has checked the values.
bool hasSetting(const ProgramOp &program, const Setting &setting);
std::optional<int64_t> settingNumber(const ProgramOp &program, const Setting &setting);
std::optional<std::string_view> settingText(const ProgramOp &program, const Setting &setting);
/// Returns the module's state that is exchanged with the host as `scalar`, or null.
StateOp findScalar(mlir::ModuleOp module, HostScalar scalar);
/// Returns the module's entry of that kind. If there is none, creates an empty entry after `after`.
EntryOp declareEntry(mlir::ModuleOp module, EntryKind kind, mlir::Operation *after);
} // namespace trainc::train
