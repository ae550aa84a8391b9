#include "lib/Analysis/Preconditions.h"

#include "dialects/NN/NN.h"
#include "dialects/Train/Train.h"
#include "lib/Analysis/Overlap.h"

using namespace mlir;
using namespace trainc;

bool trainc::isZero(Operation *op) {
  auto constant = dyn_cast_or_null<nn::ConstantOp>(op);
  return constant && constant.getValue().isPosZero();
}

/// Reports an error unless every op, also in loops, is executable.
static LogicalResult requireExecutable(Block &block) {
  LogicalResult result = success();
  for (Operation &op : block) {
    bool known = isa<train::GetOp, train::SetOp, train::InputOp, nn::YieldOp, ExecutableOpInterface>(op);
    if (!known && !isZero(&op)) {
      op.emitOpError("is left in phase 'scheduled', but nothing executes it; expected kernels, products, "
                     "attention, and reads and writes of states (run --decompose and --fuse before)");
      result = failure();
    }
    if (auto chunks = dyn_cast<nn::ChunksOp>(op);
        chunks && failed(requireExecutable(chunks.getBody().front())))
      result = failure();
  }
  return result;
}

LogicalResult trainc::requireScheduled(Block &entry) {
  return failed(requireExecutable(entry)) ? failure() : requireProvenOverlap(entry);
}

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
