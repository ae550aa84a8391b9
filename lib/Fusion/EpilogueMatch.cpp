#include "lib/Fusion/EpilogueMatch.h"

#include "lib/Fusion/ReadAnalysis.h"
#include "lib/Support/StoredElement.h"
#include "lib/Support/UseOrder.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace trainc;

/// Returns the epilogue step that a user applies to a value; none if a product cannot apply it.
static std::optional<EpilogueStep> stepOf(OpOperand &use) {
  auto op = dyn_cast<EpilogueOpInterface>(use.getOwner());
  return op ? op.getEpilogueStep(use.getOperandNumber()) : std::nullopt;
}

static bool isKind(const std::optional<EpilogueStep> &step, EpilogueKind kind) {
  return step && step->kind == kind;
}

/// Returns the conversion of the value to `element`, if the value has no other user; else null.
static Operation *onlyConversion(Value value, Type element) {
  if (!value.hasOneUse() || !isKind(stepOf(*value.use_begin()), EpilogueKind::Convert))
    return nullptr;
  Operation *convert = value.use_begin()->getOwner();
  return getElementTypeOrSelf(convert->getResult(0)) == element ? convert : nullptr;
}

/// Returns `value` in the type `type`: directly, or the operand from which it was widened; null if it is
/// neither.
static Value narrowed(Value value, Type type) {
  if (value.getType() == type)
    return value;
  Operation *def = value.getDefiningOp();
  const bool isConverted =
      def && def->getNumOperands() == 1 && isKind(stepOf(def->getOpOperand(0)), EpilogueKind::Convert);
  return isConverted && def->getOperand(0).getType() == type ? def->getOperand(0) : Value();
}

/// Whether `user`, or the op that encloses it, comes after `op` in its block.
static bool isAfter(Operation *user, Operation *op) {
  Operation *around = op->getBlock()->findAncestorOpInBlock(*user);
  return around && op->isBeforeInBlock(around);
}

/// Whether all operands of `op` are defined before `place`, an op of the same block.
static bool isKnownBefore(Operation *op, Operation *place) {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *def = operand.getDefiningOp();
    return !def || def->getBlock() != place->getBlock() || def->isBeforeInBlock(place);
  });
}

/// An activation of a value, in the value's type, or in f32 between two conversions.
struct EpilogueMatch::Activated {
  Operation *widening; ///< null if the activation is in the value's type
  OpOperand &use;
  EpilogueStep step;
};

EpilogueMatch::EpilogueMatch(GemmOpInterface product, const codegen::LibraryCalls &library,
                             const EpilogueCosts &costs)
    : place(product), result(product->getResult(0)), ops{product}, product(product),
      gemm(product.getGemmShape()), library(library), costs(costs) {}

bool EpilogueMatch::find() {
  addBias();
  addActivation();
  if (isGradient(steps.activation))
    addSumOfResult();
  for (unsigned factor : {0U, 1U})
    if (steps.isEmpty())
      addSumOfFactor(factor);
  return !steps.isEmpty();
}

/// Whether adding a step, i.e. the product with steps `with`, is as fast as kernels for that step.
bool EpilogueMatch::isWorthwhile(StringRef step, const ProductSteps<Value> &with, double inKernels) {
  choices.push_back({step, costs.product(product, with) - costs.product(product, steps), inKernels});
  return choices.back().isForProduct();
}

/// Applies only if the product without bias has no other user.
void EpilogueMatch::addBias() {
  if (!result.hasOneUse())
    return;
  std::optional<EpilogueStep> step = stepOf(*result.use_begin());
  if (!isKind(step, EpilogueKind::Bias))
    return;
  steps.bias = step->operand;
  place = result.use_begin()->getOwner();
  ops.push_back(place);
  result = place->getResult(0);
}

/// Whether the activation may write or read a tensor with the result's layout.
bool EpilogueMatch::fitsAuxiliary() const {
  return gemm.ldc % library.auxiliaryRow == 0 && gemm.strideC % library.auxiliaryRow == 0;
}

void EpilogueMatch::addActivation() {
  // cuBLASLt does not document activations of results that are wider than the factors.
  Type element = getElementTypeOrSelf(result);
  if (element != getElementTypeOrSelf(product->getOperand(0)))
    return;
  SmallVector<Activated> found;
  auto collect = [&](Value value, Operation *widening) {
    for (OpOperand *use : usesFromLast(value))
      if (auto step = stepOf(*use); isKind(step, EpilogueKind::Activation))
        found.push_back({widening, *use, *step});
  };
  collect(result, nullptr);
  for (OpOperand *use : usesFromLast(result))
    if (isKind(stepOf(*use), EpilogueKind::Convert) && !element.isF32() &&
        getElementTypeOrSelf(use->getOwner()->getResult(0)).isF32())
      collect(use->getOwner()->getResult(0), use->getOwner());
  for (const Activated &activated : found)
    if (addActivation(activated))
      return;
}

/// Returns the seconds that kernels take for an activation of `before` that gives `after`: a separate pass
/// over memory, or 0 if only kernels read the result, because they compute it on the fly.
static double inKernels(Value before, Value after, Value auxiliary, const EpilogueCosts &costs) {
  if (llvm::all_of(after.getUsers(), ReadAnalysis::isPrimitive))
    return 0;
  return costs.kernels(tensorBytes(before.getType()) + tensorBytes(after.getType()) +
                           (auxiliary ? tensorBytes(auxiliary.getType()) : 0),
                       /*launches=*/1);
}

bool EpilogueMatch::addActivation(const Activated &activated) {
  const auto &[widening, use, step] = activated;
  const bool isExact = step.activation == Activation::gelu || step.activation == Activation::gelu_gradient;
  if (isExact && !library.exactGelu)
    return false;
  Operation *op = use.getOwner();
  Operation *rounding = widening ? onlyConversion(op->getResult(0), getElementTypeOrSelf(result)) : nullptr;
  if (widening && !rounding)
    return false;
  const bool isUsedAlone = result.hasOneUse() && (!widening || widening->getResult(0).hasOneUse());
  ProductSteps<Value> with = steps;
  with.activation = step.activation;
  Value auxiliary;
  if (isGradient(step.activation)) {
    auxiliary = narrowed(step.operand, result.getType());
    if (!auxiliary || !isUsedAlone || steps.bias || !fitsAuxiliary())
      return false;
    with.auxiliary = auxiliary;
  } else if (!isUsedAlone) {
    if (!fitsAuxiliary())
      return false;
    with.keepsActivationInput = true;
  }
  Value after = (rounding ? rounding : op)->getResult(0);
  if (!isWorthwhile("activation", with, inKernels(result, after, auxiliary, costs)))
    return false;
  if (auxiliary)
    place = op;
  if (with.keepsActivationInput)
    before = result;
  steps = with;
  for (Operation *each : {widening, op, rounding})
    if (each)
      ops.push_back(each);
  result = after;
  return true;
}

// --- Gradients of biases ---

/// Returns the sum of the value's columns. Returns null if a kernel produces or reads the value, because that
/// kernel can sum it on the fly.
Operation *EpilogueMatch::sumOf(Value value) const {
  Operation *sum = nullptr, *def = value.getDefiningOp();
  if (def && ReadAnalysis::isPrimitive(def) && !llvm::is_contained(ops, def))
    return nullptr;
  for (OpOperand *use : usesFromLast(value))
    if (isKind(stepOf(*use), EpilogueKind::ColumnSums) && !sum)
      sum = use->getOwner();
    else if (ReadAnalysis::isPrimitive(use->getOwner()))
      return nullptr;
  const bool fits = sum && sum->getBlock() == product->getBlock() &&
                    getElementTypeOrSelf(sum->getResult(0)) == getElementTypeOrSelf(product->getResult(0));
  return fits ? sum : nullptr;
}

/// In kernels, the sum takes one launch to read the tensor and one to combine partial sums.
bool EpilogueMatch::addSum(SideSum kind, Operation *op) {
  ProductSteps<Value> with = steps;
  with.sideSum = kind;
  const int64_t bytes = tensorBytes(op->getOperand(0).getType()) + tensorBytes(op->getResult(0).getType());
  if (!isWorthwhile("sum of columns", with, costs.kernels(bytes, /*launches=*/2)))
    return false;
  steps = with;
  sum = op->getResult(0);
  ops.push_back(op);
  return true;
}

void EpilogueMatch::addSumOfResult() {
  if (Operation *op = gemm.batch == 1 ? sumOf(result) : nullptr)
    addSum(SideSum::result, op);
}

/// Whether the rows of a factor, as stored, are the terms of the product's sum.
bool EpilogueMatch::isSummedOverRows(unsigned factor) const {
  auto type = cast<RankedTensorType>(product->getOperand(factor).getType());
  const bool rowsAreTerms = factor == 0 ? gemm.transposeA : !gemm.transposeB;
  return rowsAreTerms && gemm.batch == 1 && type.getNumElements() == gemm.k * type.getShape().back();
}

/// The product must be placed where its operands are defined and before the first user of the sum.
void EpilogueMatch::addSumOfFactor(unsigned factor) {
  Operation *op = isSummedOverRows(factor) ? sumOf(product->getOperand(factor)) : nullptr;
  if (!op)
    return;
  const bool isFirst = op->isBeforeInBlock(product) && isKnownBefore(product, op);
  if (!isFirst && !llvm::all_of(op->getUsers(), [&](Operation *user) { return isAfter(user, product); }))
    return;
  if (addSum(factor == 0 ? SideSum::a : SideSum::b, op) && isFirst)
    place = op;
}
