// Registration and verifiers of the dist dialect.
#include "dialects/Dist/Dist.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace trainc::dist;

#include "dialects/Dist/DistDialect.cpp.inc"

void DistDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Dist/DistOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dialects/Dist/DistOps.cpp.inc"

/// Verifies that the result of a start has one use, a dist.wait.
static LogicalResult verifyStart(Operation *op) {
  for (Operation *user : op->getUsers())
    if (!isa<WaitOp>(user)) {
      InFlightDiagnostic error =
          op->emitOpError("is still in flight where its value is used; expected a dist.wait between");
      error.attachNote(user->getLoc()) << "the use";
      return error;
    }
  if (!op->hasOneUse())
    return op->emitOpError("is waited for ")
           << op->getResult(0).getNumUses() << " times; expected one dist.wait";
  return success();
}

/// Verifies that `whole` consists of equal shards of type `part` along dimension 0. The element types are
/// equal, unless `widens`.
static LogicalResult verifyShards(Operation *op, Value whole, Value part, bool widens = false) {
  auto of = cast<RankedTensorType>(whole.getType()), type = cast<RankedTensorType>(part.getType());
  const bool fits = of.getRank() > 0 && of.getRank() == type.getRank() &&
                    (widens || of.getElementType() == type.getElementType()) && type.getDimSize(0) > 0 &&
                    of.getDimSize(0) % type.getDimSize(0) == 0 &&
                    of.getShape().drop_front() == type.getShape().drop_front();
  return fits ? success()
              : op->emitOpError() << type << " is not an equal shard of " << of << " along dimension 0";
}

LogicalResult AllReduceStartOp::verify() { return verifyStart(*this); }

/// A reduce-scatter of bf16 or f16 may give its sums in f32.
LogicalResult ReduceScatterStartOp::verify() {
  if (failed(verifyStart(*this)))
    return failure();
  const Type from = getElementTypeOrSelf(getValue()), to = getElementTypeOrSelf(getPending());
  const bool widens = to.isF32() && (from.isBF16() || from.isF16());
  if (from != to && !widens)
    return emitOpError() << "sums " << from << " into " << to << "; expected " << from
                         << ", or f32 for sums of bf16 or f16";
  return verifyShards(*this, getValue(), getPending(), widens);
}

LogicalResult AllGatherStartOp::verify() {
  return failed(verifyStart(*this)) ? failure() : verifyShards(*this, getPending(), getPart());
}

LogicalResult PartOp::verify() { return verifyShards(*this, getWhole(), getPart()); }

LogicalResult WaitOp::verify() {
  if (!getPending().getDefiningOp<CollectiveOpInterface>())
    return emitOpError("waits for a value that is not the result of a collective's start");
  return success();
}

/// Verifies that `member` has the element type of `flat`, and that its elements fit into `flat` from `offset`
/// on.
static LogicalResult verifyMember(Operation *op, Value flat, Type member, int64_t offset) {
  auto type = cast<RankedTensorType>(flat.getType()), part = cast<RankedTensorType>(member);
  if (type.getRank() != 1 || type.getElementType() != part.getElementType())
    return op->emitOpError() << type << " is no flat tensor with the elements of " << member;
  if (offset > type.getNumElements() - part.getNumElements())
    return op->emitOpError() << "puts " << part.getNumElements() << " elements at " << offset << " of "
                             << type;
  return success();
}

LogicalResult PackOp::verify() {
  if (getOffsets().size() != getMembers().size())
    return emitOpError("has ") << getOffsets().size() << " offsets for " << getMembers().size() << " tensors";
  int64_t end = 0;
  for (auto [type, offset] : llvm::zip(getMembers().getTypes(), getOffsets())) {
    if (offset < end)
      return emitOpError("puts a tensor at ") << offset << ", where the one before ends at " << end;
    if (failed(verifyMember(*this, getFlat(), type, offset)))
      return failure();
    end = offset + cast<RankedTensorType>(type).getNumElements();
  }
  return success();
}

LogicalResult MemberOp::verify() {
  if (int64_t(getOffset()) < 0)
    return emitOpError("begins before the first element");
  return verifyMember(*this, getFlat(), getValue().getType(), int64_t(getOffset()));
}

trainc::FlatOffset PartOp::getFlatOffset(unsigned) {
  return {.elementsPerRank = cast<RankedTensorType>(getPart().getType()).getNumElements()};
}

trainc::FlatOffset PackOp::getFlatOffset(unsigned operand) { return {.elements = getOffsets()[operand]}; }

trainc::FlatOffset MemberOp::getFlatOffset(unsigned) { return {.elements = int64_t(getOffset())}; }
