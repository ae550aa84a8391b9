#include "lib/Support/StoredElement.h"

using namespace mlir;

namespace trainc {

Type storedElement(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : element;
}

int64_t elementBytes(Type element) { return storedElement(element).getIntOrFloatBitWidth() / 8; }

int64_t tensorBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * elementBytes(tensor.getElementType());
}

} // namespace trainc
