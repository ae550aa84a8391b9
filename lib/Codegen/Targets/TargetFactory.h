// How each target is created. Rows of plan/schema/targets.def name the targets; their folders define the
// factories.
#pragma once

#include "lib/Codegen/Target.h"

namespace trainc::codegen {

/// Creates one target.
struct TargetFactory {
  /// Returns the target with the settings of a program; with defaults if `program` is null, which only the
  /// default target is asked for.
  std::unique_ptr<Target> (*forProgram)(train::ProgramOp program);
  /// Returns the target with the settings that its prepare() recorded on a module of kernels.
  std::unique_ptr<Target> (*forKernels)(mlir::ModuleOp kernels);
};

#define TRAINC_TARGET(name, ...) extern const TargetFactory name##Target;
#include "plan/schema/targets.def"
#undef TRAINC_TARGET

} // namespace trainc::codegen
