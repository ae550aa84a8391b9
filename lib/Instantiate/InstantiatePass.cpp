#include "lib/Instantiate/Instantiate.h"
#include "lib/Instantiate/Passes.h"

namespace trainc {
#define GEN_PASS_DEF_INSTANTIATEPASS
#include "lib/Instantiate/Passes.h.inc"
} // namespace trainc

using namespace mlir;
using namespace trainc;

namespace {
struct InstantiatePass : trainc::impl::InstantiatePassBase<InstantiatePass> {
  void runOnOperation() override {
    if (failed(instantiate(getOperation())))
      signalPassFailure();
  }
};
} // namespace
