#include "lib/Codegen/KernelSummary.h"

#include "lib/Analysis/RowPadding.h"
#include "lib/Support/StoredElement.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

int64_t trainc::codegen::elementCount(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getNumElements();
}

static KernelParam tensorParam(KernelParam::Source source, unsigned index, plan::Access access, Value tensor,
                               int64_t padding) {
  Type element = storedElement(getElementTypeOrSelf(tensor));
  return {source, index, access, element, paddedBytes(tensor.getType(), padding)};
}

KernelParam trainc::codegen::operandParam(Operation *op, unsigned index) {
  return tensorParam(KernelParam::Source::Operand, index, plan::Access::read, op->getOperand(index),
                     operandPadding(op, index));
}

KernelParam trainc::codegen::resultParam(Operation *op, unsigned index, plan::Access access) {
  return tensorParam(KernelParam::Source::Result, index, access, op->getResult(index),
                     resultPadding(op, index));
}

KernelParam trainc::codegen::scratchParam(const KernelSummary &kernels, unsigned index, plan::Access access,
                                          Type element) {
  return {KernelParam::Source::Scratch, index, access, element, kernels.scratchBytes[index]};
}
