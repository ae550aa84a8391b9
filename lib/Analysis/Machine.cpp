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

/// GPUs that multiply fp8 numbers do so at twice the rate of bf16 numbers.
double productRate(Type factor, const Machine &machine) {
  if (isa<Float8E4M3FNType, Float8E5M2Type>(factor))
    return 2 * machine.bf16FlopsPerSecond;
  return isShortElement(factor) ? machine.bf16FlopsPerSecond : machine.flopsPerSecond;
}

double attentionRate(Type element, const Machine &machine) {
  return isShortElement(element) ? machine.attentionFlopsPerSecond : machine.flopsPerSecond;
}

} // namespace trainc
