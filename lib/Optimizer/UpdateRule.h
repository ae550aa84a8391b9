// Arithmetic of optimizers.
#pragma once

#include "dialects/Train/Parameters.h"
#include "lib/Optimizer/StepBuilder.h"

#include <memory>

namespace trainc {

/// A parameter to be updated: its value, its clipped gradient and its settings.
struct TrainedParameter {
  llvm::StringRef name;
  mlir::Value value, gradient;
  train::ParameterSettings settings;
};

/// Update rule of one kind of optimizer.
class UpdateRule {
public:
  virtual ~UpdateRule() = default;
  /// Builds values that all parameters share. Called once, before update().
  virtual void begin(StepBuilder &build) {}
  /// Builds the update of one parameter's optimizer states, and returns the parameter's new value.
  virtual mlir::Value update(StepBuilder &build, const TrainedParameter &parameter) = 0;

  static std::unique_ptr<UpdateRule> create(train::OptimizerAttr optimizer);
};

} // namespace trainc
