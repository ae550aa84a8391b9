// Layers that are or have parameters: nn.parameter, nn.use, nn.dropout, nn.dropout_key, nn.linear,
// nn.embedding, nn.relative_bias, nn.layer_norm and nn.rms_norm.
#include "dialects/NN/Builders.h"
#include "dialects/NN/Syntax.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

/// Returns the initialiser `init`, or `kind` with the number `a` if `init` is absent.
static Initializer initializer(InitAttr init, StringRef kind, double a = 0) {
  if (!init)
    return {kind, a};
  return {init.getKind(), init.getA().getValueAsDouble(), init.getB().getValueAsDouble()};
}

/// Reports an error at the layer unless `x` is a float tensor of at least `rank` dimensions.
static LogicalResult checkFloatInput(Operation *op, Value x, int64_t rank) {
  if (tensorType(x).getRank() >= rank && isa<FloatType>(tensorType(x).getElementType()))
    return success();
  return op->emitOpError("needs a float input of at least ") << rank << " dimensions, found " << x.getType();
}

/// Adds the parameter `layer.bias` along the last dimension; it is initialised to zeros. Returns y unchanged
/// if `none`.
static FailureOr<SmallVector<Value>> addBias(TensorBuilder &b, Value y, StringRef layer, bool none,
                                             LayerScope &scope) {
  if (none)
    return SmallVector<Value>{y};
  Value bias = scope.declareParameter(joinPath(layer, "bias"), typeLike(y, {shapeOf(y).back()}), {"zeros"});
  if (!bias)
    return failure();
  return SmallVector<Value>{b.add(y, b.broadcastTo(bias, shapeOf(y)))};
}

// --- nn.parameter, nn.use, nn.dropout and nn.dropout_key ---

FailureOr<SmallVector<Value>> ParameterOp::expand(OpBuilder &, ValueRange, LayerScope &scope) {
  auto type = cast<RankedTensorType>(getType());
  if (!type.hasStaticShape())
    return emitOpError("a parameter's dimensions must all be known, found ") << type;
  Initializer init = initializer(getInitAttr(), "zeros");
  bool isRandom = init.kind == "normal" || init.kind == "uniform";
  if (!isa<FloatType>(type.getElementType()) && (isRandom || !isHeldBy(type.getElementType(), init.a)))
    return emitOpError("a parameter of ") << type << " cannot start from " << init.kind << "("
                                          << formatNumber(init.a) << "), which it does not hold";
  Value value = scope.declareParameter(getName(), type, init);
  if (!value)
    return failure();
  return SmallVector<Value>{value};
}

FailureOr<SmallVector<Value>> UseOp::expand(OpBuilder &, ValueRange, LayerScope &scope) {
  Value value = scope.useParameter(getName());
  if (!value)
    return failure();
  return SmallVector<Value>{value};
}

LogicalResult DropoutOp::verify() {
  double p = getP().convertToDouble();
  if (!(p >= 0 && inF32(p) < 1))
    return emitOpError("p must be at least 0 and below 1, found ") << formatInF32(p);
  return success();
}

FailureOr<SmallVector<Value>> DropoutOp::expand(OpBuilder &builder, ValueRange operands, LayerScope &scope) {
  Value x = operands[0];
  double p = getP().convertToDouble();
  if (failed(checkFloatInput(*this, x, /*rank=*/0)))
    return failure();
  if (p == 0 || !scope.training())
    return SmallVector<Value>{x};
  FailureOr<int64_t> stream = scope.randomStream(getName());
  if (failed(stream))
    return failure();
  TensorBuilder b(builder, getLoc());
  return SmallVector<Value>{buildDropout(b, x, p, {scope.seed(), scope.step(), scope.micro(), *stream})};
}

FailureOr<SmallVector<Value>> DropoutKeyOp::expand(OpBuilder &builder, ValueRange, LayerScope &scope) {
  TensorBuilder b(builder, getLoc());
  const int64_t words = AttentionOp::kKeyWords;
  Type i32 = builder.getI32Type();
  if (!scope.training())
    return SmallVector<Value>{b.zero(RankedTensorType::get({words}, i32))};
  FailureOr<int64_t> stream = scope.randomStream(getName());
  if (failed(stream))
    return failure();
  Value none = b.zero(tensorType(scope.micro()));
  Value uniform = b.create<RandomOp>(scope.seed(), scope.step(), none, /*normal=*/false, *stream,
                                     RankedTensorType::get({words - 1}, builder.getF32Type()));
  Value micro = b.reshape(b.convert(scope.micro(), i32), {1});
  return SmallVector<Value>{b.concat({b.convert(b.mul(uniform, 0x1p24), i32), micro}, 0)};
}

// --- nn.linear ---

LogicalResult LinearOp::verify() {
  if (!getFeatures() && !getTied())
    return emitOpError("needs its number of outputs (`to N`) or a weight to share (`tied \"name\"`)");
  if (getTied() && getInOut())
    return emitOpError("a tied weight is [out, in], so `layout in_out` cannot be");
  if (getTied() && getInit())
    return emitOpError("a tied weight starts where it is declared, so `init` has no effect here");
  if (getFeatures() && int64_t(*getFeatures()) < 1)
    return emitOpError("the number of outputs must be at least 1, found ") << int64_t(*getFeatures());
  return success();
}

/// Returns the weight, [in, out] or [out, in]. The shape of a tied weight is checked.
static Value linearWeight(LinearOp op, RankedTensorType x, LayerScope &scope) {
  int64_t in = x.getShape().back();
  if (!op.getTied()) {
    int64_t out = *op.getFeatures();
    auto shape = op.getInOut() ? std::array{in, out} : std::array{out, in};
    auto type = RankedTensorType::get(shape, x.getElementType());
    return scope.declareParameter(joinPath(op.getName(), "weight"), type,
                                  initializer(op.getInitAttr(), "normal", 0.02));
  }
  Value weight = scope.useParameter(*op.getTied());
  if (!weight)
    return {};
  auto type = tensorType(weight);
  bool fits = type.getRank() == 2 && type.getDimSize(1) == in &&
              type.getElementType() == x.getElementType() &&
              (!op.getFeatures() || type.getDimSize(0) == int64_t(*op.getFeatures()));
  if (fits)
    return weight;
  InFlightDiagnostic error = op.emitOpError() << "the tied weight '" << *op.getTied() << "' is " << type
                                              << "; the input " << x << " needs [out, " << in << "]";
  if (op.getFeatures())
    error << " with out = " << *op.getFeatures();
  return {};
}

FailureOr<SmallVector<Value>> LinearOp::expand(OpBuilder &builder, ValueRange operands, LayerScope &scope) {
  Value x = operands[0];
  if (failed(checkFloatInput(*this, x, /*rank=*/2)))
    return failure();
  Value weight = linearWeight(*this, tensorType(x), scope);
  if (!weight)
    return failure();
  SmallVector<int64_t> shape(shapeOf(x));
  shape.back() = shapeOf(weight)[getInOut() ? 1 : 0];
  if (failed(checkSizes(shape, [&] { return emitOpError(); })))
    return failure();
  TensorBuilder b(builder, getLoc());
  Value y = b.matmul(x, weight, {.transposeRhs = !getInOut()});
  return addBias(b, y, getName(), getNoBias(), scope);
}

// --- nn.embedding ---

/// Returns the row of position 0 if `ids` are positions, or the sum of positions and a constant.
static std::optional<int64_t> firstRowOf(Value ids) {
  if (ids.getDefiningOp<PositionsOp>())
    return 0;
  auto sum = ids.getDefiningOp<AddOp>();
  if (!sum)
    return std::nullopt;
  for (auto [positions, offset] :
       {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())}) {
    auto broadcast = offset.getDefiningOp<BroadcastOp>();
    auto constant = (broadcast ? broadcast.getX() : offset).getDefiningOp<ConstantOp>();
    if (positions.getDefiningOp<PositionsOp>() && constant)
      return int64_t(constant.getValue().convertToDouble());
  }
  return std::nullopt;
}

LogicalResult EmbeddingOp::verify() {
  if (int64_t(getCount()) < 1 || int64_t(getFeatures()) < 1)
    return emitOpError("the table must have at least one row and one column, found ")
           << int64_t(getCount()) << " by " << int64_t(getFeatures());
  return success();
}

FailureOr<SmallVector<Value>> EmbeddingOp::expand(OpBuilder &builder, ValueRange operands,
                                                  LayerScope &scope) {
  Value ids = operands[0];
  Type element = tensorType(ids).getElementType();
  if (!element.isInteger(32) && !element.isInteger(64))
    return emitOpError("needs ids of i32 or i64, found ") << ids.getType();
  // Every program has an entry that trains. In decode, a row of tokens is no sequence.
  const std::optional<int64_t> first = scope.training() ? firstRowOf(ids) : std::nullopt;
  if (first && shapeOf(ids).back() > int64_t(getCount()) - *first)
    return emitOpError("sequences of ")
           << shapeOf(ids).back() << " tokens exceed the " << int64_t(getCount()) - *first
           << " positions of this table; use a shorter sequence length or a larger table";
  auto type = RankedTensorType::get({int64_t(getCount()), int64_t(getFeatures())}, builder.getF32Type());
  Value table =
      scope.declareParameter(joinPath(getName(), "weight"), type, initializer(getInitAttr(), "normal", 0.02));
  SmallVector<int64_t> shape(shapeOf(ids));
  shape.push_back(int64_t(getFeatures()));
  if (!table || failed(checkSizes(shape, [&] { return emitOpError(); })))
    return failure();
  return SmallVector<Value>{GatherOp::create(builder, getLoc(), table, ids)};
}

// --- nn.relative_bias ---

LogicalResult RelativeBiasOp::verify() {
  if (int64_t(getHeads()) < 1)
    return emitOpError("the number of heads must be at least 1, found ") << int64_t(getHeads());
  const int64_t sides = getCausal() ? 1 : 2;
  if (const auto buckets = int64_t(getBuckets());
      buckets < 2 * sides || buckets > 4096 || buckets % sides != 0)
    return emitOpError("the number of buckets must be ")
           << (getCausal() ? "from 2" : "even and from 4") << " to 4096, found " << buckets;
  if (int64_t(getMaxDistance()) <= int64_t(getBuckets()) / sides / 2)
    return emitOpError("max_distance must be above the ")
           << int64_t(getBuckets()) / sides / 2 << " distances with buckets of their own, found "
           << int64_t(getMaxDistance());
  if (constexpr int64_t kMaxDistance = std::numeric_limits<int32_t>::max();
      int64_t(getMaxDistance()) > kMaxDistance)
    return emitOpError("max_distance must be at most ")
           << kMaxDistance << ", found " << int64_t(getMaxDistance());
  return success();
}

/// Returns the first distance of each bucket from buckets / 2 + 1 on. Buckets before buckets / 2 have a
/// single distance each, and bucket buckets / 2 begins with the distance of this number.
static SmallVector<double> bucketStarts(int64_t buckets, double maxDistance) {
  const int64_t single = buckets / 2;
  SmallVector<double> starts;
  for (int64_t i = 1; i < buckets - single; ++i) {
    const double start =
        double(single) * std::pow(maxDistance / double(single), double(i) / double(buckets - single));
    starts.push_back(std::ceil(start * (1 - 1e-12))); // a whole number may have been rounded up
  }
  return starts;
}

/// Returns the bucket of each distance in `distances`, i32.
static Value bucketsOf(TensorBuilder &b, Value distances, RelativeBiasOp op) {
  const Type i32 = tensorType(distances).getElementType();
  Value zero = b.constantLike(distances, 0);
  const int64_t buckets = int64_t(op.getBuckets()) / (op.getCausal() ? 1 : 2);
  Value size = b.create<MaxOp>(distances, op.getCausal() ? zero : b.sub(zero, distances));
  Value bucket = b.create<MinOp>(size, b.constantLike(size, double(buckets / 2)));
  const auto addWhere = [&](Predicate predicate, Value x, double bound, double number) {
    Value holds = b.convert(b.compare(predicate, x, b.constantLike(x, bound)), i32);
    bucket = b.add(bucket, b.mul(holds, number));
  };
  for (double start : bucketStarts(buckets, double(op.getMaxDistance())))
    addWhere(Predicate::ge, size, start, 1);
  if (!op.getCausal())
    addWhere(Predicate::lt, distances, 0, double(buckets));
  return bucket;
}

FailureOr<SmallVector<Value>> RelativeBiasOp::expand(OpBuilder &builder, ValueRange, LayerScope &scope) {
  const int64_t length = scope.sequenceLength();
  if (length == 0)
    return emitOpError("needs the number of tokens of a sample; expected a column with a second open "
                       "dimension, such as tensor<?x?xi32>");
  auto type = RankedTensorType::get({int64_t(getBuckets()), int64_t(getHeads())}, builder.getF32Type());
  Value table =
      scope.declareParameter(joinPath(getName(), "weight"), type, initializer(getInitAttr(), "normal", 0.02));
  if (!table)
    return failure();
  TensorBuilder b(builder, getLoc());
  Value indices =
      b.create<IotaOp>(0, RankedTensorType::get({2 * length - 1}, builder.getI32Type())).getResult();
  Value distances = b.sub(indices, b.constantLike(indices, double(length - 1)));
  Value rows = b.create<GatherOp>(table, bucketsOf(b, distances, *this)).getResult();
  return SmallVector<Value>{b.transpose(rows, {1, 0})};
}

// --- nn.layer_norm and nn.rms_norm ---

/// Multiplies x by the parameter `name.weight` along the last dimension, or by 1 + `name.weight` if
/// `zeroCentered`. The weight is initialised to ones, or to zeros. Returns null after an error.
static Value scaleRows(TensorBuilder &b, Value x, StringRef name, LayerScope &scope,
                       bool zeroCentered = false) {
  Value weight = scope.declareParameter(joinPath(name, "weight"), typeLike(x, {shapeOf(x).back()}),
                                        {zeroCentered ? "zeros" : "ones"});
  if (!weight)
    return {};
  Value scaled = b.mul(x, b.broadcastTo(weight, shapeOf(x)));
  return zeroCentered ? b.add(x, scaled) : scaled; // the sum 1 + weight might be rounded to 16 bits
}

static LogicalResult verifyEps(Operation *op, double eps) {
  if (std::isfinite(inF32(eps)) && eps >= 0)
    return success();
  return op->emitOpError("eps must be a number of 0 or more, found ") << formatInF32(eps);
}

LogicalResult LayerNormOp::verify() { return verifyEps(*this, getEps().convertToDouble()); }

LogicalResult RmsNormOp::verify() {
  if (getHeads() && int64_t(*getHeads()) < 1)
    return emitOpError("the number of heads must be at least 1, found ") << int64_t(*getHeads());
  return verifyEps(*this, getEps().convertToDouble());
}

FailureOr<SmallVector<Value>> LayerNormOp::expand(OpBuilder &builder, ValueRange operands,
                                                  LayerScope &scope) {
  if (failed(checkFloatInput(*this, operands[0], /*rank=*/1)))
    return failure();
  TensorBuilder b(builder, getLoc());
  Value y = scaleRows(b, b.create<StandardizeOp>(operands[0], getEps()).getResult(), getName(), scope);
  if (!y)
    return failure();
  return addBias(b, y, getName(), getNoBias(), scope);
}

FailureOr<SmallVector<Value>> RmsNormOp::expand(OpBuilder &builder, ValueRange operands, LayerScope &scope) {
  if (failed(checkFloatInput(*this, operands[0], /*rank=*/1)))
    return failure();
  const SmallVector<int64_t> shape(shapeOf(operands[0]));
  const int64_t heads = getHeads().value_or(1);
  if (shape.back() % heads != 0)
    return emitOpError("the last dimension of the input, ")
           << operands[0].getType() << ", is not a multiple of " << heads << " heads";
  TensorBuilder b(builder, getLoc());
  SmallVector<int64_t> ofHeads(shape);
  if (getHeads()) {
    ofHeads.back() = heads;
    ofHeads.push_back(shape.back() / heads);
  }
  Value standardized = b.create<RmsStandardizeOp>(b.reshape(operands[0], ofHeads), getEps()).getResult();
  Value y = scaleRows(b, standardized, getName(), scope, getZeroCentered());
  if (!y)
    return failure();
  return SmallVector<Value>{b.reshape(y, shape)};
}
