#include "lib/Codegen/Summaries.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace trainc::codegen;

/// Equal operands share one argument.
Operation *Summaries::copyOf(Operation *op) {
  IRMapping operands;
  for (Value operand : op->getOperands())
    if (!operands.contains(operand))
      operands.map(operand, keys_.addArgument(operand.getType(), operand.getLoc()));
  Operation *copy = op->clone(operands);
  keys_.push_back(copy);
  return copy;
}

llvm::FailureOr<KernelSummary> Summaries::of(Operation *op, const Target &target) {
  {
    const std::lock_guard lock(mutex_);
    if (auto found = known_.find(op); found != known_.end())
      return found->second;
  }
  llvm::FailureOr<KernelSummary> made = target.summarise(op);
  if (succeeded(made)) {
    const std::lock_guard lock(mutex_);
    if (known_.find(op) == known_.end()) // another thread may have added it meanwhile
      known_.try_emplace(copyOf(op), *made);
  }
  return made;
}
