#include "lib/Fusion/EpilogueCosts.h"

#include "lib/Codegen/OpCost.h"

using namespace mlir;
using namespace trainc;

/// The op is built for its cost only; it may precede its operands.
double EpilogueCosts::product(GemmOpInterface product, const ProductSteps<Value> &steps) const {
  Operation *priced = product;
  if (!steps.isEmpty()) {
    OpBuilder builder(product);
    priced = product.buildWithEpilogue(builder, steps);
  }
  if (!priced)
    return std::numeric_limits<double>::infinity();
  const FailureOr<double> seconds = codegen::secondsOf(*priced, target_, machine_);
  assert(succeeded(seconds) && "a library takes no product with steps that it takes without");
  if (priced != product)
    priced->erase();
  return *seconds;
}

double EpilogueCosts::kernels(int64_t bytes, int64_t launches) const {
  return costOf({.bytes = double(bytes)}, machine_).seconds() + double(launches - 1) * machine_.launchSeconds;
}
