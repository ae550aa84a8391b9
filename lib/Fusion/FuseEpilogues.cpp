// Biases and activations become part of the products that they follow.
#include "lib/Fusion/Passes.h"

#include "dialects/NN/NN.h"
#include "lib/Codegen/Target.h"

#include "llvm/ADT/STLExtras.h"

namespace trainc {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "lib/Fusion/Passes.h.inc"
} // namespace trainc

using namespace mlir;
using namespace trainc;

namespace {

/// The steps that follow a product, and the ops that do them.
struct Epilogue {
  SmallVector<EpilogueStep> steps;
  SmallVector<Operation *> ops;
  bool keepsBefore = false; ///< others use what the last step is applied to
};

/// What a user does with a product's result; nothing where a product cannot do it.
std::optional<EpilogueStep> stepOf(OpOperand &use) {
  auto op = dyn_cast<EpilogueOpInterface>(use.getOwner());
  return op ? op.getEpilogueStep(use.getOperandNumber()) : std::nullopt;
}

void add(Epilogue &epilogue, const EpilogueStep &step, Operation *op) {
  epilogue.steps.push_back(step);
  epilogue.ops.push_back(op);
}

/// A bias if nobody else needs the product without it, then an activation that the library has.
Epilogue epilogueOf(GemmOpInterface product, const codegen::LibraryCalls &library) {
  Epilogue epilogue;
  Value value = product->getResult(0);
  if (value.hasOneUse())
    if (auto step = stepOf(*value.use_begin()); step && step->kind == EpilogueKind::Bias) {
      add(epilogue, *step, value.use_begin()->getOwner());
      value = epilogue.ops.back()->getResult(0);
    }
  for (OpOperand &use : value.getUses())
    if (auto step = stepOf(use);
        step && step->kind != EpilogueKind::Bias && (step->kind != EpilogueKind::Gelu || library.exactGelu)) {
      epilogue.keepsBefore = !value.hasOneUse();
      add(epilogue, *step, use.getOwner());
      break;
    }
  return epilogue;
}

struct FuseEpilogues : trainc::impl::FuseEpiloguesBase<FuseEpilogues> {
  using trainc::impl::FuseEpiloguesBase<FuseEpilogues>::FuseEpiloguesBase;

  void runOnOperation() override {
    SmallVector<GemmOpInterface> products;
    getOperation()->walk([&](GemmOpInterface product) { products.push_back(product); });
    const codegen::LibraryCalls library = codegen::Target::chosenFor(getOperation())->libraryCalls();
    for (GemmOpInterface product : products)
      fuse(product, library);
  }

private:
  /// The product moves to where the first step is, as only there the bias is sure to be known.
  static void fuse(GemmOpInterface product, const codegen::LibraryCalls &library) {
    const Epilogue epilogue = epilogueOf(product, library);
    if (epilogue.steps.empty() || product.getGemmShape().sumsBatch())
      return;
    Operation *first = epilogue.ops.front(), *last = epilogue.ops.back();
    OpBuilder builder(epilogue.steps.front().kind == EpilogueKind::Bias ? first : product);
    Operation *fused = product.buildWithEpilogue(builder, epilogue.steps, epilogue.keepsBefore);
    if (!fused)
      return;
    last->getResult(0).replaceAllUsesWith(fused->getResult(0));
    last->erase();
    Value before = epilogue.ops.size() > 1 ? first->getResult(0) : product->getResult(0);
    if (epilogue.keepsBefore)
      before.replaceAllUsesWith(fused->getResult(1));
    if (first != last)
      first->erase();
    product->erase();
  }
};

} // namespace
