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
  using InstantiatePassBase::InstantiatePassBase;

  void runOnOperation() override {
    auto given = [](int64_t value) { return value == -1 ? std::nullopt : std::optional(value); };
    InstantiateOptions options{given(microBatch), given(seqLen),     given(ranks),
                               given(zeroStage),  given(accumulate), given(evalBatch)};
    if (failed(instantiate(getOperation(), options)))
      signalPassFailure();
  }
};
} // namespace
