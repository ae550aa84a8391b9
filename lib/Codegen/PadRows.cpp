// Pass `pad-rows`: pads the rows of tensors so that all rows are aligned.
#include "dialects/Interfaces/Interfaces.h"
#include "lib/Analysis/Preconditions.h"
#include "lib/Analysis/RowPadding.h"
#include "lib/Codegen/Passes.h"
#include "lib/Codegen/Target.h"
#include "lib/Support/StoredElement.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_PADROWSPASS
#include "lib/Codegen/Passes.h.inc"

namespace {

/// Minimum row length in alignments; shorter rows would grow by more than 1/32.
constexpr int64_t kMinAlignments = 32;

struct PadRowsPass : impl::PadRowsPassBase<PadRowsPass> {
  void runOnOperation() override;

private:
  void pad(Value value, const codegen::Target &target);
};

/// Returns the elements that pad rows to the alignment; 0 if none are needed or rows are short.
int64_t missingElements(RankedTensorType type, int64_t alignment) {
  if (type.getRank() < 2) // a single row needs no padding
    return 0;
  const int64_t element = elementBytes(type.getElementType()), row = type.getShape().back() * element;
  return row < kMinAlignments * alignment ? 0 : int64_t(llvm::alignTo(row, alignment) - row) / element;
}

} // namespace

/// Producer and all readers must support the padding.
void PadRowsPass::pad(Value value, const codegen::Target &target) {
  const int64_t missing = missingElements(cast<RankedTensorType>(value.getType()), target.rowAlignment());
  SmallVector<Operation *> ops(value.getUsers());
  ops.push_back(value.getDefiningOp());
  if (missing == 0 || !llvm::all_of(ops, [&](Operation *op) { return target.takesPadding(op, value); }))
    return;
  for (Operation *op : ops)
    setRowPadding(op, value, missing);
}

void PadRowsPass::runOnOperation() {
  if (failed(requireConcrete(getOperation())))
    return signalPassFailure();
  const std::unique_ptr<codegen::Target> target = codegen::Target::chosenFor(getOperation());
  if (target->rowAlignment() == 1)
    return;
  getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto executable = dyn_cast<ExecutableOpInterface>(op);
    if (!executable || !isGenerated(executable.getKernelClass()))
      return WalkResult::advance();
    for (Value result : op->getResults())
      pad(result, *target);
    return WalkResult::skip(); // a kernel's region is part of it
  });
}

} // namespace trainc
