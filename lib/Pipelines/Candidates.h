// Plans without code: what a program takes with some settings, for those who choose among settings.
#pragma once

#include "lib/Pipelines/Phases.h"
#include "lib/Pipelines/Report.h"

#include "mlir/IR/OwningOpRef.h"

namespace trainc {

/// What a plan takes, had it code.
struct CandidatePlan {
  MemoryReport memory; ///< exact: addresses are assigned
  EntrySeconds step;   ///< of a training step
  int64_t flops;       ///< of a rank in a training step
  int64_t sentBytes;   ///< by each rank in a training step
};

/// A program with its settings in the phase `step`, before activation checkpointing decides. All candidates
/// that differ in that alone are planned from here.
class Candidates {
public:
  /// Brings a copy of `model` (phase `model`) there, with the settings of `options` over those of its
  /// program; the memory limit is not looked at. Fails, with an error as diagnostic, where the compiler
  /// would.
  static llvm::FailureOr<Candidates> make(mlir::ModuleOp model, const CompileOptions &options);

  /// Plans it with the activation checkpointing of its program. Seconds are those of `machine`, or of the
  /// target's reference.
  llvm::FailureOr<CandidatePlan> plan(const Machine *machine = nullptr) const;

private:
  Candidates(mlir::OwningOpRef<mlir::ModuleOp> step, Strategy strategy)
      : step_(std::move(step)), strategy_(std::move(strategy)) {}

  mlir::OwningOpRef<mlir::ModuleOp> step_;
  Strategy strategy_;
};

} // namespace trainc
