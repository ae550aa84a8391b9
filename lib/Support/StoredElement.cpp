#include "lib/Support/StoredElement.h"

using namespace mlir;

namespace trainc {

Type storedElement(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : element;
}

} // namespace trainc
