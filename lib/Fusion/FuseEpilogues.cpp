// Pass `fuse-epilogues`: merges biases, activations and their gradients into products.
#include "dialects/NN/NN.h"
#include "lib/Fusion/EpilogueMatch.h"
#include "lib/Fusion/Passes.h"

#include "llvm/Support/FormatVariadic.h"

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
    const EpilogueCosts costs(*target);
    for (GemmOpInterface product : products) {
      FailureOr<codegen::KernelSummary> summary = target->summarise(product);
      if (failed(summary))
        return signalPassFailure();
      if (!summary->library || !product.getGemmEpilogue().isEmpty())
        continue;
      EpilogueMatch match(product, library, costs);
      const bool isFound = match.find();
      if (printChoices)
        print(product, match.choices);
      if (isFound)
        fuse(product, match);
    }
  }

private:
  static void print(GemmOpInterface product, ArrayRef<EpilogueChoice> choices) {
    for (const EpilogueChoice &each : choices)
      product->emitRemark(each.isForProduct() ? "takes its " : "leaves to kernels its ")
          << each.step << ": "
          << llvm::formatv("{0:F1} us in the product, {1:F1} us in kernels", 1e6 * each.inProduct,
                           1e6 * each.inKernels)
                 .str();
  }

  static void fuse(GemmOpInterface product, EpilogueMatch &match) {
    OpBuilder builder(match.place);
    Operation *fused = product.buildWithEpilogue(builder, match.steps);
    if (!fused)
      return;
    match.result.replaceAllUsesWith(fused->getResult(0));
    if (match.steps.keepsActivationInput)
      match.before.replaceAllUsesWith(fused->getResult(1));
    if (match.sum)
      match.sum.replaceAllUsesWith(fused->getResults().back());
    for (Operation *op : llvm::reverse(match.ops))
      if (op->use_empty())
        op->erase();
  }
};

} // namespace
