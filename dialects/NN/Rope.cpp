// Token positions and rotary position embedding.
#include "dialects/NN/RopeScaling.h"
#include "dialects/NN/Rows.h"
#include "dialects/NN/Syntax.h"

#include <cmath>
#include <limits>

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

/// Returns the positions of the texts if each token belongs to another text.
SmallVector<Value> PositionsOp::buildIncremental(OpBuilder &builder, CacheScope &caches) {
  Value position = caches.position();
  if (tensorType(position).getRank() == 1)
    return {position};
  return {PositionsOp::create(builder, getLoc(), getTokens(), position)};
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
  const int64_t width = x.getDimSize(2) / heads, rotary = adaptor.getRotary().value_or(width);
  if (rotary < 2 || rotary > width || rotary % 2 != 0)
    return error() << "rotary must be an even number from 2 to the width of a head, " << width << ", found "
                   << rotary;
  if (RopeScalingAttr scaling = adaptor.getScalingAttr()) {
    constexpr int64_t kMaxScaled = 4096;
    if (rotary > kMaxScaled)
      return error() << "scaling: expected at most " << kMaxScaled << " rotated numbers per head, found "
                     << rotary;
    for (NamedAttribute key : scaling.getKeys())
      if (auto factors = dyn_cast<DenseF64ArrayAttr>(key.getValue()); factors && factors.size() != rotary / 2)
        return error() << "scaling " << scaling.getKind() << ": `" << key.getName().getValue()
                       << "` must have a number for each of the " << rotary / 2
                       << " rotated pairs of a head, found " << factors.size();
    for (const int64_t length : {int64_t{0}, std::numeric_limits<int64_t>::max()})
      for (double frequency : ropeTable(theta, rotary, forLength(scaling, length)).frequencies)
        if (!std::isfinite(inF32(frequency)))
          return error() << "scaling " << scaling.getKind() << " with theta " << formatNumber(theta)
                         << " gives a frequency of " << formatInF32(frequency);
  }
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

int64_t RopeOp::rotaryWidth() { return getRotary().value_or(shapeOf(getX())[2] / int64_t(getHeads())); }

/// Returns the frequency of each pair, [r/2]; negative for the inverse rotation.
static Value buildFrequencies(TensorBuilder &b, RopeOp op) {
  const int64_t rotary = op.rotaryWidth();
  auto type = RankedTensorType::get({rotary / 2}, tensorType(op.getX()).getElementType());
  const double theta = op.getTheta().convertToDouble();
  if (RopeScalingAttr scaling = op.getScalingAttr()) {
    SmallVector<double> frequencies = ropeTable(theta, rotary, scaling).frequencies;
    for (double &frequency : frequencies)
      frequency = op.getInverse() ? -frequency : frequency;
    return b.create<TableOp>(/*dim=*/0, frequencies, type);
  }
  Value index = b.create<IotaOp>(0, type);
  Value frequency = b.exp(b.mul(index, -2.0 * std::log(theta) / double(rotary)));
  return op.getInverse() ? b.neg(frequency) : frequency;
}

/// Returns the angles position * frequency, [..., r/2] from positions [...].
static Value buildAngles(TensorBuilder &b, RopeOp op) {
  Value positions = b.convert(op.getPositions(), tensorType(op.getX()).getElementType());
  Value frequencies = buildFrequencies(b, op);
  SmallVector<int64_t> shape(shapeOf(positions));
  shape.push_back(shapeOf(frequencies)[0]);
  return b.mul(b.broadcastLast(positions, shape), b.broadcastTo(frequencies, shape));
}

/// Repeats [..., r/2] to [batch, t, heads, r/2].
static Value overHeads(TensorBuilder &b, Value table, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> column(shapeOf(table));
  column.insert(column.end() - 1, 1);
  return b.broadcastTo(b.reshape(table, column), shape);
}

SmallVector<Value> RopeOp::decompose(OpBuilder &builder) {
  TensorBuilder b(builder, getLoc());
  ArrayRef<int64_t> shape = shapeOf(getX());
  const int64_t heads = getHeads(), width = shape[2] / heads, rotary = rotaryWidth(), pairs = rotary / 2;
  Value x = b.reshape(getX(), {shape[0], shape[1], heads, width});
  const SmallVector<int64_t> ofPairs{shape[0], shape[1], heads, pairs};
  Value x1, x2;
  if (getInterleaved()) {
    Value rotated = rotary == width ? x : b.slice(x, 3, 0, rotary);
    Value each = b.reshape(rotated, {shape[0], shape[1], heads, pairs, 2});
    x1 = b.reshape(b.slice(each, 4, 0, 1), ofPairs);
    x2 = b.reshape(b.slice(each, 4, 1, 1), ofPairs);
  } else {
    x1 = b.slice(x, 3, 0, pairs);
    x2 = b.slice(x, 3, pairs, pairs);
  }
  // The tables are small and equal in all layers, so that CSE merges them.
  Value angles = buildAngles(b, *this);
  Value cosines = b.create<CosOp>(angles), sines = b.create<SinOp>(angles);
  if (RopeScalingAttr scaling = getScalingAttr()) {
    const double factor = ropeTable(getTheta().convertToDouble(), rotary, scaling).factor;
    cosines = factor == 1 ? cosines : b.mul(cosines, factor);
    sines = factor == 1 ? sines : b.mul(sines, factor);
  }
  Value cos = overHeads(b, cosines, ofPairs), sin = overHeads(b, sines, ofPairs);
  SmallVector<Value> parts{b.sub(b.mul(x1, cos), b.mul(x2, sin)), b.add(b.mul(x2, cos), b.mul(x1, sin))};
  if (getInterleaved()) {
    SmallVector<int64_t> column(ofPairs);
    column.push_back(1);
    Value each = b.concat({b.reshape(parts[0], column), b.reshape(parts[1], column)}, 4);
    parts = {b.reshape(each, {shape[0], shape[1], heads, rotary})};
  }
  if (rotary != width)
    parts.push_back(b.slice(x, 3, rotary, width - rotary));
  return {b.reshape(parts.size() == 1 ? parts[0] : b.concat(parts, 3), shape)};
}

/// A rotation is orthogonal, so its gradient is the inverse rotation, with the same factor.
void RopeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultCotangents, ArrayRef<bool> needed,
                      MutableArrayRef<Value> operandCotangents) {
  if (!needed[0])
    return;
  const UnitAttr inverse = getInverse() ? UnitAttr() : builder.getUnitAttr();
  operandCotangents[0] =
      RopeOp::create(builder, getLoc(), resultCotangents[0], getPositions(), getHeadsAttr(), getThetaAttr(),
                     getRotaryAttr(), getInterleavedAttr(), getScalingAttr(), inverse);
}
