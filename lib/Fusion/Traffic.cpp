#include "lib/Fusion/Traffic.h"

#include "dialects/NN/NN.h"

#include "lib/Support/StoredElement.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace trainc;

int64_t trainc::trafficOf(Operation *op) {
  if (auto chunks = dyn_cast<nn::ChunksOp>(op))
    return chunks.getCount() * trafficOf(chunks.getBody().front());
  if (isView(op) || !isMemoryEffectFree(op) || op->hasTrait<OpTrait::IsTerminator>())
    return 0;
  int64_t bytes = 0;
  if (auto kernel = dyn_cast<nn::KernelOp>(op)) {
    for (auto [index, input] : llvm::enumerate(kernel.getInputs()))
      bytes += kernel.readElements(index) * elementBytes(getElementTypeOrSelf(input));
  } else if (auto gather = dyn_cast<nn::GatherOp>(op)) {
    bytes += tensorBytes(gather.getIds().getType()) +
             std::min(tensorBytes(gather.getTable().getType()), tensorBytes(gather.getType()));
  } else {
    for (Type type : op->getOperandTypes())
      bytes += tensorBytes(type);
  }
  for (Type type : op->getResultTypes())
    bytes += tensorBytes(type);
  return bytes;
}

int64_t trainc::trafficOf(Block &block) {
  int64_t bytes = 0;
  for (Operation &op : block)
    bytes += trafficOf(&op);
  return bytes;
}
