#include "dialects/Interfaces/Interfaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace trainc {

Type LaneContext::type(Type element) const {
  return lanes == 0 ? element : VectorType::get({lanes}, element);
}

static Value constantOf(OpBuilder &builder, const LaneContext &lanes, TypedAttr scalar) {
  auto vector = dyn_cast<VectorType>(lanes.type(scalar.getType()));
  TypedAttr value = vector ? cast<TypedAttr>(DenseElementsAttr::get(vector, Attribute(scalar))) : scalar;
  return arith::ConstantOp::create(builder, lanes.loc, value);
}

Value LaneContext::constant(OpBuilder &builder, Type element, double value) const {
  return constantOf(builder, *this, builder.getFloatAttr(element, value));
}

Value LaneContext::constantInt(OpBuilder &builder, Type element, int64_t value) const {
  return constantOf(builder, *this, builder.getIntegerAttr(element, value));
}

std::string Along::text() const {
  switch (kind) {
  case Replicated:
    return "replicated";
  case Own:
    return "each rank's own";
  case Partial:
    return "a partial sum";
  case Sharded:
    return "sharded along dimension " + std::to_string(dim);
  }
  llvm_unreachable("unknown placement");
}

bool hasClass(Operation *op, KernelClass kernelClass) {
  auto executable = dyn_cast_or_null<ExecutableOpInterface>(op);
  return executable && executable.getKernelClass() == kernelClass;
}

bool isView(Operation *op) { return hasClass(op, KernelClass::Alias) || isPack(op) || isWait(op); }

bool isReadThrough(Operation *op) {
  auto readThrough = dyn_cast_or_null<ReadThroughOpInterface>(op);
  return readThrough && readThrough.isReadThrough();
}

bool isPack(Operation *op) { return hasClass(op, KernelClass::Pack); }

bool isWait(Operation *op) { return hasClass(op, KernelClass::Wait); }

bool isShardOfRank(Operation *op) {
  return hasClass(op, KernelClass::Alias) &&
         cast<ExecutableOpInterface>(op).getFlatOffset(0).elementsPerRank != 0;
}

bool isGather(Operation *op) {
  auto collective = dyn_cast_or_null<CollectiveOpInterface>(op);
  return collective && collective.getCollectiveKind() == CollectiveKind::all_gather;
}

} // namespace trainc

#include "dialects/Interfaces/Interfaces.cpp.inc"
