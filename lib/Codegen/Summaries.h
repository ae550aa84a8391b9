// How a target runs ops, of those that are equal once.
#pragma once

#include "lib/Codegen/EqualOps.h"
#include "lib/Codegen/Target.h"

#include "mlir/IR/Block.h"

#include <mutex>

namespace trainc::codegen {

/// Knows the summaries of one target, and of its host, for all modules of a context that are compiled for it:
/// plans that are tried differ in few kernels. Several threads may ask.
class Summaries {
public:
  /// Target::summarise() of an op. `target` is the same in all calls, or its host for ops that run there.
  llvm::FailureOr<KernelSummary> of(mlir::Operation *op, const Target &target);

private:
  mlir::Operation *copyOf(mlir::Operation *op);

  std::mutex mutex_; ///< of what follows
  mlir::Block keys_; ///< copies of ops, with an argument for each of their operands
  llvm::DenseMap<mlir::Operation *, KernelSummary, EqualOps> known_;
};

} // namespace trainc::codegen
