// The arithmetic of optimizers.
#pragma once

#include "dialects/Train/Parameters.h"
#include "lib/Optimizer/StepBuilder.h"

#include <memory>

namespace trainc {

/// A parameter to update: its value, the gradient (clipped) and its groups' settings.
struct TrainedParameter {
  llvm::StringRef name;
  mlir::Value value, gradient;
  train::ParameterSettings settings;
};

/// How one kind of optimizer updates parameters.
class UpdateRule {
public:
  virtual ~UpdateRule() = default;
  /// Builds what all parameters share. Called once, before update().
  virtual void begin(StepBuilder &build) {}
  /// Builds the update of one parameter's optimizer states, and returns its new value.
  virtual mlir::Value update(StepBuilder &build, const TrainedParameter &parameter) = 0;

  static std::unique_ptr<UpdateRule> create(train::OptimizerAttr optimizer);
};

} // namespace trainc
