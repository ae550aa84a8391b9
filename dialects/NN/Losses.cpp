// Losses: nn.cross_entropy of logits and labels, with ignored targets, class weights and label smoothing;
// nn.mse.
#include "dialects/NN/Rows.h"
#include "dialects/NN/Syntax.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

// --- nn.cross_entropy ---

static LogicalResult checkLogitsAndLabels(RankedTensorType logits, RankedTensorType labels,
                                          InferError error) {
  if (logits.getRank() == 0 || !isa<FloatType>(logits.getElementType()))
    return error() << "logits must be a float tensor [..., classes], found " << logits;
  if (!labels.getElementType().isInteger(32) && !labels.getElementType().isInteger(64))
    return error() << "labels must be i32 or i64, found " << labels;
  if (labels.getShape() != logits.getShape().drop_back())
    return error() << "labels " << labels << " must have the shape of the logits " << logits
                   << " without the last dimension";
  return success();
}

FailureOr<SmallVector<Type>> CrossEntropyOp::inferTypes(Adaptor adaptor, InferError error) {
  auto logits = cast<RankedTensorType>(adaptor.getLogits().getType());
  auto labels = cast<RankedTensorType>(adaptor.getLabels().getType());
  if (failed(checkLogitsAndLabels(logits, labels, error)))
    return failure();
  auto perClass = RankedTensorType::get({logits.getShape().back()}, logits.getElementType());
  if (Value weights = adaptor.getWeights(); weights && weights.getType() != perClass)
    return error() << "weights must be one number per class, " << perClass << ", found " << weights.getType();
  double smoothing = adaptor.getSmoothing().convertToDouble();
  if (!(smoothing >= 0 && smoothing <= 1))
    return error() << "smoothing must lie between 0 and 1, found " << formatNumber(smoothing);
  int64_t ignore = adaptor.getIgnore();
  if (!isHeldBy(labels.getElementType(), double(ignore)) || int64_t(double(ignore)) != ignore)
    return error() << "ignore must be a number of " << labels.getElementType()
                   << ", as the labels are, with 53 bits at most, found " << ignore;
  Type perTarget = RankedTensorType::get(labels.getShape(), logits.getElementType());
  return SmallVector<Type>{perTarget, perTarget};
}

IndexingRule CrossEntropyOp::getIndexingRule() {
  SmallVector<int> logits = rowLabels(getLogits());
  SmallVector<int> targets(ArrayRef(logits).drop_back());
  IndexingRule rule{{logits, targets}, {targets, targets}};
  if (getWeights())
    rule.operands.push_back({-1});
  return rule;
}

std::optional<IndexLimit> CrossEntropyOp::getIndexLimit(unsigned operand) {
  if (operand != getLabelsMutable().getOperandNumber())
    return std::nullopt;
  return IndexLimit{shapeOf(getLogits()).back(), int64_t(getIgnore())};
}

namespace {

/// Builds the common terms of the loss and its gradient.
struct Parts {
  TensorBuilder b;
  CrossEntropyOp op;
  Value logits = op.getLogits(), labels = op.getLabels(), weights = op.getWeights();
  double smoothing = op.getSmoothing().convertToDouble();
  double classes = double(shapeOf(logits).back());

  /// Returns x for targets that count, 0 for others; x is [...].
  Value whereCounted(Value x) {
    Value zero = b.constantLike(x, 0), none = b.constantLike(labels, -1);
    Value ignored = b.compare(Predicate::eq, labels, b.constantLike(labels, double(int64_t(op.getIgnore()))));
    Value label = b.select(ignored, none, labels);
    Value small = b.compare(Predicate::lt, label, b.constantLike(labels, classes));
    return b.select(b.compare(Predicate::gt, label, none), b.select(small, x, zero), zero);
  }

  /// Returns whether class equals label, i1 of shape [..., classes].
  Value isLabel() {
    auto type = RankedTensorType::get(shapeOf(logits), tensorType(labels).getElementType());
    Value index = b.create<IotaOp>(type.getRank() - 1, type);
    return b.compare(Predicate::eq, index, overRow(b, labels, index));
  }

  /// Returns x at the label, [...] from [..., classes]; 0 if the label is no class.
  Value pick(Value x) { return rowSum(b, b.select(isLabel(), x, b.constantLike(x, 0))); }

  Value weightsOverRows() { return b.broadcastTo(weights, shapeOf(logits)); }

  /// Returns the weight of each target's label, [...].
  Value labelWeight() { return pick(weightsOverRows()); }

  /// Returns x [...] times the sum of all class weights.
  Value timesWeightSum(Value x) {
    return weights ? b.mul(x, b.broadcastTo(b.sum(weights, {0}), shapeOf(x))) : b.mul(x, classes);
  }

  /// Returns x [..., classes] times the weight of each class.
  Value timesWeights(Value x) { return weights ? b.mul(x, weightsOverRows()) : x; }

  /// Returns e^(x - lse).
  Value probabilities(Value lse) { return b.exp(b.sub(logits, overRow(b, lse, logits))); }

  Value logSumExp();
  Value loss(Value lse);
  Value gradient(Value lse, Value dnll);
};

Value Parts::logSumExp() {
  Value largest = reduceRows(b, ReduceKind::max, logits);
  return b.add(largest, b.create<LogOp>(rowSum(b, probabilities(largest))));
}

/// Returns (1-s) w[label] (lse - x[label]) + s/classes sum_c w[c] (lse - x[c]) for targets that count.
Value Parts::loss(Value lse) {
  Value nll = b.sub(lse, pick(logits));
  if (weights)
    nll = b.mul(nll, labelWeight());
  if (smoothing != 0) {
    Value all = b.sub(timesWeightSum(lse), rowSum(b, timesWeights(logits)));
    nll = b.add(b.mul(nll, 1 - smoothing), b.mul(all, smoothing / classes));
  }
  return whereCounted(nll);
}

/// Returns dnll (p (sum of t) - t) for targets that count, where p = e^(x - lse) and the target distribution
/// is t[c] = (1-s) w[label] [c = label] + s/classes w[c].
Value Parts::gradient(Value lse, Value dnll) {
  Value counted = whereCounted(dnll), zero = b.constantLike(logits, 0);
  Value atLabel = weights ? b.mul(counted, labelWeight()) : counted;
  if (smoothing == 0) {
    Value row = overRow(b, atLabel, logits);
    return b.sub(b.mul(probabilities(lse), row), b.select(isLabel(), row, zero));
  }
  atLabel = b.mul(atLabel, 1 - smoothing);
  Value everywhere = b.mul(counted, smoothing / classes);
  Value target = b.add(b.select(isLabel(), overRow(b, atLabel, logits), zero),
                       timesWeights(overRow(b, everywhere, logits)));
  Value sum = b.add(atLabel, timesWeightSum(everywhere));
  return b.sub(b.mul(probabilities(lse), overRow(b, sum, logits)), target);
}

} // namespace

SmallVector<Value> CrossEntropyOp::decompose(OpBuilder &builder) {
  Parts parts{TensorBuilder(builder, getLoc()), *this};
  Value lse = parts.logSumExp();
  return {parts.loss(lse), lse};
}

/// The weights also occur in the loss's denominator, which has no gradient.
bool CrossEntropyOp::isConstantOperand(unsigned operand) {
  return operand > getLabelsMutable().getOperandNumber();
}

/// The gradient depends on logits, labels and lse; the weights are constants.
void CrossEntropyOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultCotangents, ArrayRef<bool> needed,
                              MutableArrayRef<Value> operandCotangents) {
  if (!needed[0])
    return;
  Parts parts{TensorBuilder(builder, getLoc()), *this};
  Value dlogits;
  if (resultCotangents[0])
    dlogits = parts.gradient(getLse(), resultCotangents[0]);
  if (resultCotangents[1]) {
    Value term =
        parts.b.mul(parts.probabilities(getLse()), overRow(parts.b, resultCotangents[1], getLogits()));
    dlogits = dlogits ? parts.b.add(dlogits, term) : term;
  }
  operandCotangents[0] = dlogits;
}

Value CrossEntropyOp::buildTargetWeights(OpBuilder &builder) {
  Parts parts{TensorBuilder(builder, getLoc()), *this};
  return parts.whereCounted(getWeights() ? parts.labelWeight() : parts.b.constantLike(getNll(), 1));
}

// --- nn.mse ---

FailureOr<SmallVector<Type>> MseOp::inferTypes(Adaptor adaptor, InferError error) {
  RankedTensorType x = tensorType(adaptor.getX());
  if (!isa<FloatType>(x.getElementType()) || adaptor.getY().getType() != x)
    return error() << "x and y must be float tensors of one shape, found " << x << " and "
                   << adaptor.getY().getType();
  return SmallVector<Type>{x};
}

IndexingRule MseOp::getIndexingRule() { return elementwiseIndexing(*this); }

SmallVector<Value> MseOp::decompose(OpBuilder &builder) {
  TensorBuilder b(builder, getLoc());
  return {b.square(b.sub(getX(), getY()))};
}

/// The cotangents are 2 (x - y) and its negative.
void MseOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultCotangents, ArrayRef<bool> needed,
                     MutableArrayRef<Value> operandCotangents) {
  TensorBuilder b(builder, getLoc());
  Value dx = b.mul(resultCotangents[0], b.mul(b.sub(getX(), getY()), 2));
  operandCotangents[0] = dx;
  if (needed[1])
    operandCotangents[1] = b.neg(dx);
}
