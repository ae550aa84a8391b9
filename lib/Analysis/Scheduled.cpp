#include "lib/Analysis/Scheduled.h"

#include "dialects/NN/NN.h"
#include "dialects/Train/Train.h"

using namespace mlir;
using namespace trainc;

bool trainc::isZero(Operation *op) {
  auto constant = dyn_cast_or_null<nn::ConstantOp>(op);
  return constant && constant.getValue().isPosZero();
}

/// Starts that go together have nothing between them that computes.
static LogicalResult requireMessagesTogether(Block &block) {
  llvm::DenseMap<Attribute, CollectiveOpInterface> begun;
  Attribute last;
  for (Operation &op : block) {
    auto start = dyn_cast<CollectiveOpInterface>(op);
    Attribute message = start ? start.getMessageAttr() : Attribute();
    if (message && message != last && !begun.try_emplace(message, start).second) {
      InFlightDiagnostic error =
          op.emitOpError("is apart from the others of its message; expected starts "
                         "of a message one after the other (run --schedule-collectives "
                         "before)");
      error.attachNote(begun[message].getLoc()) << "the first of them";
      return error;
    }
    if (start || (!isPlacement(&op) && !isa<train::GetOp>(op)))
      last = message;
  }
  return success();
}

LogicalResult trainc::requireScheduled(Block &block) {
  LogicalResult result = requireMessagesTogether(block);
  for (Operation &op : block) {
    bool known = isa<train::GetOp, train::SetOp, train::InputOp, nn::YieldOp, ExecutableOpInterface>(op);
    if (!known && !isZero(&op)) {
      op.emitOpError("is left in phase 'scheduled', but nothing executes it; expected kernels, products, "
                     "attention, and reads and writes of states (run --decompose and --fuse before)");
      result = failure();
    }
    if (auto chunks = dyn_cast<nn::ChunksOp>(op);
        chunks && failed(requireScheduled(chunks.getBody().front())))
      result = failure();
  }
  return result;
}
