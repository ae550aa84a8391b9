// Biases and activations become part of the products that they follow, with their gradients.
#include "dialects/NN/NN.h"
#include "lib/Fusion/EpilogueMatch.h"
#include "lib/Fusion/Passes.h"

namespace trainc {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "lib/Fusion/Passes.h.inc"
} // namespace trainc

using namespace mlir;
using namespace trainc;

namespace {

struct FuseEpilogues : trainc::impl::FuseEpiloguesBase<FuseEpilogues> {
  using trainc::impl::FuseEpiloguesBase<FuseEpilogues>::FuseEpiloguesBase;

  void runOnOperation() override {
    SmallVector<GemmOpInterface> products;
    getOperation()->walk([&](GemmOpInterface product) { products.push_back(product); });
    const std::unique_ptr<codegen::Target> target = codegen::Target::chosenFor(getOperation());
    const codegen::LibraryCalls library = target->libraryCalls();
    for (GemmOpInterface product : products) {
      FailureOr<codegen::KernelSummary> summary = target->summarise(product);
      if (failed(summary))
        return signalPassFailure();
      EpilogueMatch match(product, library);
      if (summary->library && product.getGemmEpilogue().isEmpty() && match.find())
        fuse(product, match);
    }
  }

private:
  static void fuse(GemmOpInterface product, EpilogueMatch &match) {
    OpBuilder builder(match.place);
    Operation *fused = product.buildWithEpilogue(builder, match.steps);
    if (!fused)
      return;
    match.result.replaceAllUsesWith(fused->getResult(0));
    if (match.steps.keepsBefore)
      match.before.replaceAllUsesWith(fused->getResult(1));
    if (match.sum)
      match.sum.replaceAllUsesWith(fused->getResults().back());
    for (Operation *op : llvm::reverse(match.ops))
      if (op->use_empty())
        op->erase();
  }
};

} // namespace
