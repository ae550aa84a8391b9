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

/// Update rule of one kind of optimizer, in the order of PyTorch's single-tensor implementation.
class UpdateRule {
public:
  virtual ~UpdateRule() = default;
  /// Builds values that all parameters share. Called once, before update().
  virtual void begin(StepBuilder &build) {}
  /// Builds the update of one parameter's optimizer states, and returns the parameter's new value.
  virtual mlir::Value update(StepBuilder &build, const TrainedParameter &parameter) = 0;

  /// Creates the rule that the registry (dialects/Train/Optimizers.def) names.
  static std::unique_ptr<UpdateRule> create(train::OptimizerAttr optimizer);

protected:
  /// Returns gradient + decay * value, i.e. decay as a penalty in the loss.
  static mlir::Value addDecay(StepBuilder &build, const TrainedParameter &parameter);
  /// Returns value * (1 - rate * decay): decay that the gradient does not see.
  static mlir::Value decayed(StepBuilder &build, const TrainedParameter &parameter, mlir::Value rate);
  /// Returns old * beta + sample * (1 - beta).
  static mlir::Value average(StepBuilder &build, mlir::Value old, mlir::Value sample, double beta);
  /// Updates one of the optimizer's moving averages, and returns its new value.
  static mlir::Value advance(StepBuilder &build, llvm::StringRef kind, mlir::RankedTensorType type,
                             mlir::Value sample, double beta, llvm::StringRef parameter = {});
};

/// Creates a rule with the numbers of the model's text.
using MakeRule = std::unique_ptr<UpdateRule>(train::OptimizerAttr optimizer);
#define TRAINC_OPTIMIZER(source, kind, rule, ...) MakeRule rule;
#include "dialects/Train/Optimizers.def"
#undef TRAINC_OPTIMIZER

} // namespace trainc
