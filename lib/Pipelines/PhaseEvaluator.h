// Evaluates strategies by plans without code.
#pragma once

#include "lib/Pipelines/Phases.h"
#include "lib/Pipelines/WithoutWarnings.h"
#include "lib/Planner/Evaluate.h"

#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <memory>

namespace trainc {

/// Runs the phases of a model up to addresses, with the settings of each strategy. Strategies that differ in
/// late settings only share the phase `step`; see isLate(). Warnings are suppressed while the object exists;
/// compiling the chosen strategy reports them. The first strategy is evaluated alone, so that errors of the
/// model are reported once.
class PhaseEvaluator : public Evaluate {
public:
  /// Takes a model of phase `model` with the settings of `options`. `cachesSchedules` keeps programs before
  /// offloading, which is of use if several strategies differ only in what is offloaded.
  PhaseEvaluator(mlir::ModuleOp model, const CompileOptions &options, bool cachesSchedules);
  /// Takes a module of phase `step`, to which the passes of addStepPasses() have been applied. Strategies may
  /// have late settings only.
  PhaseEvaluator(mlir::ModuleOp step, const PassConditions &conditions);
  ~PhaseEvaluator() override;

  llvm::FailureOr<std::vector<Evaluation>> evaluate(llvm::ArrayRef<Settings> strategies) override;
  llvm::FailureOr<int64_t> lowerBoundBytes(const Settings &strategy) override;

  /// Returns the strategy's module of phase `step`, before activation checkpointing.
  llvm::FailureOr<mlir::ModuleOp> step(const Settings &strategy);

private:
  class Step;
  llvm::LogicalResult makeSteps(llvm::ArrayRef<Settings> strategies);
  llvm::FailureOr<std::unique_ptr<Step>> makeStep(const Settings &early);

  WithoutWarnings onlyErrors_;
  mlir::ModuleOp model_;
  CompileOptions options_;
  bool cachesSchedules_, isFirst_ = true;
  std::map<Settings, std::unique_ptr<Step>> steps_; ///< by early settings
};

} // namespace trainc
