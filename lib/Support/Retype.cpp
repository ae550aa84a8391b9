#include "lib/Support/Retype.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

void trainc::retype(Operation *op, RankedTensorType before, RankedTensorType after) {
  for (NamedAttribute attribute : op->getAttrs()) {
    if (attribute.getValue() == TypeAttr::get(before))
      op->setAttr(attribute.getName(), TypeAttr::get(after));
    else if (attribute.getName() == "shape" && isa<DenseI64ArrayAttr>(attribute.getValue()))
      op->setAttr(attribute.getName(), DenseI64ArrayAttr::get(op->getContext(), after.getShape()));
  }
}
