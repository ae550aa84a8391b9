// Cache of kernel summaries, in which equal ops share a summary.
#pragma once

#include "lib/Codegen/EqualOps.h"
#include "lib/Codegen/Target.h"

#include "mlir/IR/Block.h"

#include <mutex>

namespace trainc::codegen {

/// Caches the summaries of one target and of its host for all modules of a context: candidate plans differ in
/// few kernels. Thread-safe.
class Summaries {
public:
  /// Returns Target::summarise() of an op. `target` must be the same in all calls, or its host for host ops.
  llvm::FailureOr<KernelSummary> of(mlir::Operation *op, const Target &target);

private:
  mlir::Operation *copyOf(mlir::Operation *op);

  std::mutex mutex_; ///< guards the following members
  mlir::Block keys_; ///< copies of ops, with an argument for each operand
  llvm::DenseMap<mlir::Operation *, KernelSummary, EqualOps> known_;
};

} // namespace trainc::codegen
