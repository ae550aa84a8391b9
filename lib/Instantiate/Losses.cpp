#include "lib/Instantiate/Losses.h"

#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;

Value trainc::buildSum(OpBuilder &builder, Location loc, Value x) {
  nn::TensorBuilder b(builder, loc);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, nn::tensorType(x).getRank()));
  return b.convert(dims.empty() ? x : b.sum(x, dims), builder.getF32Type());
}

Value trainc::buildLossSum(OpBuilder &builder, const LossTerm &term) {
  return buildSum(builder, term.loc, term.value);
}

/// Returns the operand whose bytes the op's result shares; null if there is none.
static Value aliased(Operation *op) { return hasClass(op, KernelClass::Alias) ? op->getOperand(0) : Value(); }

/// Returns the op that yields a loss per target; null for other losses.
static LossTermOpInterface lossOp(const LossTerm &term) {
  Value value = term.value;
  // Reshapes do not change a loss.
  while (Value source = aliased(value.getDefiningOp()))
    value = source;
  auto op = value.getDefiningOp<LossTermOpInterface>();
  return op && value == op->getResult(0) ? op : LossTermOpInterface();
}

std::optional<Value> trainc::buildTargetWeights(OpBuilder &builder, const LossTerm &term) {
  if (LossTermOpInterface op = lossOp(term))
    return op.buildTargetWeights(builder);
  return std::nullopt;
}

/// Returns the operand of an op that only moves elements of one operand; null for other ops.
static Value movedFrom(Operation *op) {
  if (Value source = aliased(op))
    return source;
  auto copy = dyn_cast_or_null<StridedCopyOpInterface>(op);
  if (!copy || op->getNumOperands() != 1 ||
      !llvm::all_of(copy.getBoxes(), [](const StridedBox &box) { return box.operand.has_value(); }))
    return {};
  return op->getOperand(0);
}

train::InputOp trainc::ignoringColumn(const LossTerm &term) {
  auto lookup = dyn_cast_or_null<LookupOpInterface>(lossOp(term).getOperation());
  if (!lookup)
    return {};
  for (OpOperand &operand : lookup->getOpOperands()) {
    std::optional<IndexLimit> limit = lookup.getIndexLimit(operand.getOperandNumber());
    if (!limit || !limit->ignore)
      continue;
    Value labels = operand.get();
    while (Value source = movedFrom(labels.getDefiningOp()))
      labels = source;
    return labels.getDefiningOp<train::InputOp>();
  }
  return {};
}

bool trainc::isLogLikelihood(const LossTerm &term) {
  auto op = dyn_cast_or_null<nn::CrossEntropyOp>(lossOp(term).getOperation());
  return op && term.scale == 1 && !op.getWeights() && op.getSmoothing().isZero();
}

int64_t trainc::countElements(const LossTerm &term) { return nn::tensorType(term.value).getNumElements(); }

Value trainc::buildMean(OpBuilder &builder, Location loc, Value sum, Value targets) {
  nn::TensorBuilder b(builder, loc);
  Value any = b.compare(nn::Predicate::gt, targets, b.constantLike(targets, 0));
  return b.div(sum, b.select(any, targets, b.constantLike(targets, 1)));
}

train::StateOp trainc::targetsState(StateTable &states, const LossTerm &term, size_t index) {
  Type f32 = Float32Type::get(term.loc.getContext());
  if (index == 0)
    return states.scalar(HostScalar::targets);
  std::string name = "targets." + term.name;
  if (train::StateOp state = states.lookup(name))
    return state;
  return states.declare(term.loc, name, train::StateRole::scalar, RankedTensorType::get({}, f32));
}
