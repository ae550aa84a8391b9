#include "lib/Schedule/StateOrder.h"

using namespace mlir;

namespace trainc {

StateOrder::StateOrder(Block &block) : block(block), numbers(number(block)) {}

StateOrder::Numbers StateOrder::number(Block &block) {
  Numbers found;
  llvm::StringMap<int64_t> writes;
  block.walk([&](Operation *op) {
    if (auto get = dyn_cast<train::GetOp>(op))
      found[op] = writes[get.getState()];
    if (auto set = dyn_cast<train::SetOp>(op))
      found[op] = writes[set.getState()]++;
  });
  return found;
}

LogicalResult StateOrder::requireKept() const {
  const Numbers now = number(block);
  for (auto [op, writes] : numbers)
    if (now.lookup(op) != writes)
      return op->emitOpError("stands behind ") << now.lookup(op) << " writes of its state; expected "
                                               << writes << " as before (a fault of trainc)";
  return success();
}

} // namespace trainc
