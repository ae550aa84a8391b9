// Settings of a single parameter, and reserved names.
#pragma once

#include "dialects/Train/Train.h"

#include "mlir/IR/BuiltinOps.h"

namespace trainc::train {

/// Settings of a parameter after all groups have been applied.
struct ParameterSettings {
  double lrScale = 1;
  double weightDecay = 0;
  std::optional<bool> frozen = std::nullopt; ///< none if no group says so
};

/// Returns the settings of parameter `name` of `rank` dimensions. The last matching group wins. Unless a
/// group sets it, the weight decay of parameters of fewer than two dimensions is 0.
ParameterSettings settingsOf(ProgramOp program, llvm::StringRef name, int64_t rank);

/// Reports an error at the program if one of its groups matches no parameter of the module.
mlir::LogicalResult checkGroups(ProgramOp program, mlir::ModuleOp module);

/// Whether the name belongs to a component of the step: a scalar, an entry, or a state that a pass creates,
/// such as "exp_avg.w" for parameter "w". Parameters and programs cannot have such names.
bool isReservedName(llvm::StringRef name);

} // namespace trainc::train
