// In a model, operands of elementwise ops may have different shapes; from the phase `step` on they have not.
#include "dialects/NN/Builders.h"
#include "lib/Instantiate/Forward.h"

using namespace mlir;
using namespace trainc;

/// Widens `shape` to the common shape of both (right-aligned, size 1 is repeated), or returns the dimension,
/// counted from the end, where they contradict each other.
static std::optional<size_t> widen(SmallVectorImpl<int64_t> &shape, ArrayRef<int64_t> other) {
  if (other.size() > shape.size())
    shape.insert(shape.begin(), other.size() - shape.size(), 1);
  for (size_t fromEnd = 1; fromEnd <= other.size(); ++fromEnd) {
    int64_t &size = shape[shape.size() - fromEnd], found = other[other.size() - fromEnd];
    if (size != found && size != 1 && found != 1)
      return fromEnd;
    size = size == 1 ? found : size;
  }
  return std::nullopt;
}

LogicalResult trainc::broadcastOperands(OpBuilder &builder, Operation *op) {
  SmallVector<int64_t> shape;
  for (Value operand : op->getOperands()) {
    SmallVector<int64_t> before = shape;
    std::optional<size_t> bad = widen(shape, nn::shapeOf(operand));
    if (!bad)
      continue;
    InFlightDiagnostic error = op->emitOpError("operands ");
    llvm::interleaveComma(op->getOperandTypes(), error);
    ArrayRef<int64_t> found = nn::shapeOf(operand);
    return error << " have no common shape: dimension " << int64_t(shape.size() - *bad) << " is "
                 << before[before.size() - *bad] << " in one and " << found[found.size() - *bad]
                 << " in another";
  }
  if (failed(nn::checkSizes(shape, [&] { return op->emitOpError(); })))
    return failure();
  nn::TensorBuilder b(builder, op->getLoc());
  for (OpOperand &operand : op->getOpOperands())
    operand.set(b.broadcastTo(operand.get(), shape));
  return success();
}
