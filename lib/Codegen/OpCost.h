// Predicted cost of ops of the phase `scheduled`, for passes that choose.
#pragma once

#include "lib/Codegen/Summaries.h"

namespace trainc::codegen {

/// Predicts seconds of ops on one rank's share of the target's reference machine, by the same costOf() as for
/// instructions. Results are cached, so that ops must not change during this object's lifetime.
class OpCosts {
public:
  /// `summaries` of the target may be shared with other users.
  OpCosts(const Target &target, int64_t ranks, std::shared_ptr<Summaries> summaries)
      : target_(target), machine_(target.referenceMachine(ranks)), summaries_(std::move(summaries)) {}

  /// Returns the seconds of the op's launches or library call; a loop includes all iterations. Returns none
  /// if the op has no generated code. Fails with an error at an op that the target cannot execute.
  llvm::FailureOr<double> seconds(mlir::Operation &op);

  const Machine &machine() const { return machine_; }

private:
  const Target &target_;
  Machine machine_;
  std::shared_ptr<Summaries> summaries_;
  llvm::DenseMap<mlir::Operation *, double, EqualOps> known_;
};

/// As OpCosts::seconds(), without a cache, for an op that may change or be erased afterwards.
llvm::FailureOr<double> secondsOf(mlir::Operation &op, const Target &target, const Machine &machine);

} // namespace trainc::codegen
