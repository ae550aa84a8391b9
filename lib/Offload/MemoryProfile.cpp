#include "lib/Offload/MemoryProfile.h"

#include "lib/Analysis/Preconditions.h"
#include "lib/Offload/Readers.h"
#include "lib/Support/StoredElement.h"

#include <numeric>

using namespace mlir;

namespace trainc {

MemoryProfile::MemoryProfile(Block &block, llvm::function_ref<bool(train::GetOp)> isFetched) {
  for (Operation &op : block) {
    numbers_[&op] = ops_.size();
    ops_.push_back(&op);
  }
  bytes_.assign(ops_.size() + 1, 0); // first differences, then sums
  for (Operation *op : ops_)
    for (OpResult result : op->getResults())
      if (hasBytes(result, isFetched)) {
        const int64_t bytes = tensorBytes(result.getType());
        bytes_[numberOf(op) + (isMadeOver(result) ? 1 : 0)] += bytes;
        bytes_[lastRead(result) + 1] -= bytes;
      }
  std::partial_sum(bytes_.begin(), bytes_.end(), bytes_.begin());
}

/// Whether the value takes memory of its own.
bool MemoryProfile::hasBytes(OpResult result, llvm::function_ref<bool(train::GetOp)> isFetched) const {
  Operation *op = result.getOwner();
  if (auto get = dyn_cast<train::GetOp>(op))
    return isFetched(get);
  if (isView(op) || isa<train::InputOp>(op) || isZero(op))
    return false;
  Value updated = inPlaceOperand(result);
  const bool goesToState = llvm::any_of(result.getUsers(), llvm::IsaPred<train::SetOp>);
  return (!updated || isZero(updated)) && !goesToState;
}

/// Whether a kernel can compute the value over an operand that nothing reads afterwards.
bool MemoryProfile::isMadeOver(OpResult result) const {
  Operation *op = result.getOwner();
  return hasClass(op, KernelClass::Rows) && llvm::any_of(op->getOperands(), [&](Value operand) {
           Operation *made = operand.getDefiningOp();
           return made && !isa<train::InputOp>(made) && !isZero(made) &&
                  tensorBytes(operand.getType()) == tensorBytes(result.getType()) &&
                  lastRead(operand) == numberOf(op);
         });
}

size_t MemoryProfile::lastRead(Value value) const {
  size_t last = numberOf(value.getDefiningOp());
  for (Operation *user : value.getUsers()) {
    last = std::max(last, numberOf(user));
    for (OpResult result : user->getResults())
      if (isView(user) || inPlaceOperand(result) == value)
        last = std::max(last, lastRead(result));
      else if (isa<CollectiveOpInterface>(user)) // a collective reads its operand until its wait
        for (Operation *wait : result.getUsers())
          last = std::max(last, numberOf(wait));
  }
  return last;
}

} // namespace trainc
