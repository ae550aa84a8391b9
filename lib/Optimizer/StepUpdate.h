// The update that follows from a step's gradients.
#pragma once

#include "dialects/Train/Sharding.h"
#include "lib/Optimizer/GradientNorm.h"

namespace trainc {

/// Replaces the train.gradient ops of entry @micro_step by what `program` says.
class StepUpdate {
public:
  StepUpdate(mlir::ModuleOp module, train::ProgramOp program)
      : module(module), program(program), symbols(module) {}

  /// Emits an error and fails where the module has no gradients to use.
  mlir::LogicalResult run();

private:
  /// What the train.gradient ops say; erases them.
  static Gradients takeGradients(train::EntryOp entry);
  /// Adds the gradients to states, in place of the train.gradient ops; the sums.
  Gradients accumulate(train::EntryOp entry);
  std::string declareAccumulator(llvm::StringRef parameter, mlir::RankedTensorType type);
  /// Builds norm, clipping and updates at the end of `entry`.
  void buildUpdate(train::EntryOp entry, Gradients gradients);
  bool syncsEveryMicroStep() const { return train::shardingOf(program).syncEveryMicroStep; }
  bool sumsBehindLastBackward();
  void sumOverRanks(StepBuilder &build, Gradients &gradients);
  /// The sums that the states hold, read in `entry`.
  Gradients readAccumulated(train::EntryOp entry, const Gradients &sums);

  mlir::ModuleOp module;
  train::ProgramOp program;
  StepSymbols symbols;
};

} // namespace trainc
