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
  /// Adds the gradients to states, in place of the train.gradient ops.
  void accumulate(train::EntryOp microStep, llvm::ArrayRef<train::GradientOp> gradients);
  /// Builds norm, clipping and updates at the end of `entry`.
  void buildUpdate(train::EntryOp entry, Gradients gradients);
  bool syncsEveryMicroStep() const { return train::shardingOf(program).syncEveryMicroStep; }
  void sumOverRanks(StepBuilder &build, Gradients &gradients);
  /// The gradients that the states hold, read in `entry`.
  Gradients readAccumulated(train::EntryOp entry, llvm::ArrayRef<llvm::StringRef> parameters);

  mlir::ModuleOp module;
  train::ProgramOp program;
  StepSymbols symbols;
};

} // namespace trainc
