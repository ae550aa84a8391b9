// What ops of the phase `scheduled` will cost, for passes that choose.
#pragma once

#include "lib/Codegen/Summaries.h"

namespace trainc::codegen {

/// Prices ops on what a rank has of the target's reference machine, as their instructions will be priced:
/// those that the target says it would run, by costOf(). Ops must not change while they are known here.
class OpCosts {
public:
  /// `summaries`: of the target, if others know or ask them as well.
  OpCosts(const Target &target, int64_t ranks, std::shared_ptr<Summaries> summaries)
      : target_(target), machine_(target.referenceMachine(ranks)), summaries_(std::move(summaries)) {}

  /// Seconds of the op's launches or library call; of a loop all iterations. None if the op runs no generated
  /// code. Fails, with an error at the op, where the target cannot execute it.
  llvm::FailureOr<double> seconds(mlir::Operation &op);

  const Machine &machine() const { return machine_; }

private:
  const Target &target_;
  Machine machine_;
  std::shared_ptr<Summaries> summaries_;
  llvm::DenseMap<mlir::Operation *, double, EqualOps> known_;
};

/// As OpCosts, of an op that may change or go afterwards.
llvm::FailureOr<double> secondsOf(mlir::Operation &op, const Target &target, const Machine &machine);

} // namespace trainc::codegen
