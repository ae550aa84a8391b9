#include "lib/Analysis/RowPadding.h"

#include "lib/Analysis/KernelAttributes.h"
#include "lib/Support/StoredElement.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace trainc {

/// The attribute lists operands, then results.
static int64_t padding(Operation *op, unsigned index) {
  auto noted = op->getAttrOfType<DenseI64ArrayAttr>(kRowPaddingAttr);
  return noted ? noted[index] : 0;
}

int64_t operandPadding(Operation *op, unsigned operand) { return padding(op, operand); }

int64_t resultPadding(Operation *op, unsigned result) { return padding(op, op->getNumOperands() + result); }

void setRowPadding(Operation *op, Value value, int64_t elements) {
  SmallVector<int64_t> noted(op->getNumOperands() + op->getNumResults(), 0);
  if (auto before = op->getAttrOfType<DenseI64ArrayAttr>(kRowPaddingAttr))
    noted.assign(before.asArrayRef().begin(), before.asArrayRef().end());
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get() == value)
      noted[operand.getOperandNumber()] = elements;
  if (auto result = dyn_cast<OpResult>(value); result && result.getOwner() == op)
    noted[op->getNumOperands() + result.getResultNumber()] = elements;
  op->setAttr(kRowPaddingAttr, DenseI64ArrayAttr::get(op->getContext(), noted));
}

int64_t paddedBytes(Value value) {
  auto result = dyn_cast<OpResult>(value);
  return paddedBytes(value.getType(),
                     result ? resultPadding(result.getOwner(), result.getResultNumber()) : 0);
}

int64_t paddedBytes(Type type, int64_t padding) {
  auto tensor = cast<RankedTensorType>(type);
  if (padding == 0)
    return tensorBytes(tensor);
  const int64_t rows = ShapedType::getNumElements(tensor.getShape().drop_back());
  return tensorBytes(tensor) + rows * padding * elementBytes(tensor.getElementType());
}

} // namespace trainc
