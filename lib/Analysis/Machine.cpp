#include "lib/Analysis/Machine.h"

#include "mlir/IR/BuiltinTypes.h"

#include <algorithm>

using namespace mlir;

namespace trainc {

StringRef Cost::boundBy() const {
  const double larger = std::max(workSeconds, byteSeconds);
  return launchSeconds >= larger ? "launch" : byteSeconds >= workSeconds ? "bytes" : "work";
}

bool isShortElement(Type element) { return element.isBF16() || element.isF16(); }

double productRate(Type factor, const Machine &machine) {
  return isShortElement(factor) ? machine.bf16FlopsPerSecond : machine.flopsPerSecond;
}

double attentionRate(Type element, const Machine &machine) {
  return isShortElement(element) ? machine.attentionFlopsPerSecond : machine.flopsPerSecond;
}

} // namespace trainc
