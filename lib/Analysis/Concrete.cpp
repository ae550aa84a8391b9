#include "lib/Analysis/Concrete.h"

#include "dialects/NN/NN.h"

using namespace mlir;

LogicalResult trainc::requireConcrete(Operation *root) {
  auto isDeferred = llvm::IsaPred<nn::DeferredType>;
  WalkResult walked = root->walk([&](Operation *op) {
    if (llvm::none_of(op->getOperandTypes(), isDeferred) && llvm::none_of(op->getResultTypes(), isDeferred))
      return WalkResult::advance();
    op->emitOpError("is a model's text, whose types are not known yet; run --instantiate before");
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}
