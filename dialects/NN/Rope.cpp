// Token positions and rotary position embedding.
#include "dialects/NN/Rows.h"
#include "dialects/NN/Syntax.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

// --- nn.positions ---

FailureOr<SmallVector<Type>> PositionsOp::inferTypes(Adaptor adaptor, InferError error) {
  auto tokens = cast<RankedTensorType>(adaptor.getTokens().getType());
  if (tokens.getRank() == 0)
    return error() << "tokens must have a last dimension to count along, found " << tokens;
  Type i32 = IntegerType::get(tokens.getContext(), 32);
  if (Value from = adaptor.getFrom(); from && from.getType() != RankedTensorType::get({}, i32))
    return error() << "`from` must be tensor<i32>, found " << from.getType();
  return SmallVector<Type>{RankedTensorType::get({tokens.getShape().back()}, i32)};
}

/// The sequence cannot be partitioned, because each shard would count from 0.
IndexingRule PositionsOp::getIndexingRule() {
  IndexingRule rule;
  rule.operands.push_back(SmallVector<int>(shapeOf(getTokens()).size(), -1));
  if (getFrom())
    rule.operands.emplace_back();
  rule.results = {{-1}};
  return rule;
}

SmallVector<Value> PositionsOp::decompose(OpBuilder &builder) {
  TensorBuilder b(builder, getLoc());
  auto type = cast<RankedTensorType>(getResult().getType());
  Value count = b.create<IotaOp>(0, type);
  return {getFrom() ? b.add(count, b.broadcastTo(getFrom(), type)) : count};
}

SequenceDims PositionsOp::getSequenceDims() {
  SequenceDims dims{{int(shapeOf(getTokens()).size()) - 1}, {0}};
  if (getFrom())
    dims.operands.push_back(-1);
  return dims;
}

bool PositionsOp::readsElements(unsigned operand) { return operand != 0; }

SmallVector<Value> PositionsOp::buildIncremental(OpBuilder &builder, CacheScope &caches) {
  return {PositionsOp::create(builder, getLoc(), getTokens(), caches.position())};
}

// --- nn.rope ---

FailureOr<SmallVector<Type>> RopeOp::inferTypes(Adaptor adaptor, InferError error) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  auto positions = cast<RankedTensorType>(adaptor.getPositions().getType());
  int64_t heads = adaptor.getHeads();
  if (x.getRank() != 3 || !isa<FloatType>(x.getElementType()))
    return error() << "x must be a float tensor [batch, t, heads*d], found " << x;
  if (heads < 1 || heads > x.getDimSize(2) || x.getDimSize(2) % (2 * heads) != 0)
    return error() << "the last dimension of x, " << x << ", must be " << heads << " heads of an even width";
  double theta = adaptor.getTheta().convertToDouble();
  if (!(std::isfinite(theta) && theta > 0))
    return error() << "theta must be a number above 0, found " << formatNumber(theta);
  bool fits =
      positions.getShape() == x.getShape().drop_back() || positions.getShape() == x.getShape().slice(1, 1);
  if (!fits || !positions.getElementType().isInteger())
    return error() << "positions must be integers [batch, t] or [t] of x, " << x << ", found " << positions;
  return SmallVector<Type>{x};
}

IndexingRule RopeOp::getIndexingRule() {
  IndexingRule rule;
  rule.operands = {{0, 1, -1}, {0, 1}};
  if (shapeOf(getPositions()).size() == 1)
    rule.operands[1] = {1};
  rule.results = {{0, 1, -1}};
  return rule;
}

/// Returns the angles position * theta^(-2i/d), [..., d/2] from positions [...]; negative for the inverse
/// rotation.
static Value buildAngles(TensorBuilder &b, RopeOp op, int64_t width) {
  Type element = tensorType(op.getX()).getElementType();
  Value positions = b.convert(op.getPositions(), element);
  Value index = b.create<IotaOp>(0, RankedTensorType::get({width / 2}, element));
  double logTheta = std::log(op.getTheta().convertToDouble());
  Value frequency = b.exp(b.mul(index, -2.0 * logTheta / double(width)));
  if (op.getInverse())
    frequency = b.neg(frequency);
  SmallVector<int64_t> shape(shapeOf(positions));
  shape.push_back(width / 2);
  return b.mul(b.broadcastLast(positions, shape), b.broadcastTo(frequency, shape));
}

/// Repeats [..., d/2] to [batch, t, heads, d/2].
static Value overHeads(TensorBuilder &b, Value table, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> column(shapeOf(table));
  column.insert(column.end() - 1, 1);
  return b.broadcastTo(b.reshape(table, column), shape);
}

SmallVector<Value> RopeOp::decompose(OpBuilder &builder) {
  TensorBuilder b(builder, getLoc());
  ArrayRef<int64_t> shape = shapeOf(getX());
  int64_t heads = getHeads(), width = shape[2] / heads;
  Value x = b.reshape(getX(), {shape[0], shape[1], heads, width});
  Value x1 = b.slice(x, 3, 0, width / 2), x2 = b.slice(x, 3, width / 2, width / 2);
  // The tables are small and equal in all layers, so that CSE merges them.
  Value angles = buildAngles(b, *this, width);
  Value cos = overHeads(b, b.create<CosOp>(angles), shapeOf(x1));
  Value sin = overHeads(b, b.create<SinOp>(angles), shapeOf(x1));
  Value y1 = b.sub(b.mul(x1, cos), b.mul(x2, sin));
  Value y2 = b.add(b.mul(x2, cos), b.mul(x1, sin));
  return {b.reshape(b.concat({y1, y2}, 3), shape)};
}

/// A rotation is orthogonal, so its gradient is the inverse rotation.
void RopeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultCotangents, ArrayRef<bool> needed,
                      MutableArrayRef<Value> operandCotangents) {
  if (needed[0])
    operandCotangents[0] = RopeOp::create(builder, getLoc(), resultCotangents[0], getPositions(), getHeads(),
                                          getTheta(), !getInverse());
}
