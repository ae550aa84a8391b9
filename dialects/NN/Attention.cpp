// nn.attention and nn.attention_grad.
#include "dialects/NN/Builders.h"
#include "dialects/NN/Syntax.h"
#include "plan/cost/work.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Inferred = FailureOr<SmallVector<Type>>;

namespace {

/// Sizes of an attention. `headWidth` is the width of a head of q and k, `valueWidth` that of a head of v.
struct Sizes {
  int64_t batch, queries, keys, headWidth, valueWidth;
};

} // namespace

/// Reports an error unless operand `name` is a float tensor of three dimensions whose last dimension is a
/// multiple of `heads`.
static LogicalResult checkHeads(StringRef name, Value value, int64_t heads, InferError error) {
  RankedTensorType type = tensorType(value);
  if (type.getRank() != 3 || !isa<FloatType>(type.getElementType()))
    return error() << "operand " << name
                   << " must be [batch, positions, heads*width] of floating-point numbers, found " << type;
  if (heads < 1 || type.getDimSize(2) % heads != 0)
    return error() << "the last dimension of operand " << name << ", " << type
                   << ", is not a multiple of its " << heads << " heads";
  return success();
}

static FailureOr<Sizes> checkAttention(Value q, Value k, Value v, Value segments, int64_t heads,
                                       int64_t keyHeads, InferError error) {
  if (failed(checkHeads("q", q, heads, error)) || failed(checkHeads("k", k, keyHeads, error)) ||
      failed(checkHeads("v", v, keyHeads, error)))
    return failure();
  if (tensorType(k).getElementType() != tensorType(q).getElementType() ||
      tensorType(v).getElementType() != tensorType(q).getElementType())
    return error() << "q, k and v must have the same element type, found " << q.getType() << ", "
                   << k.getType() << " and " << v.getType();
  if (heads % keyHeads != 0)
    return error() << heads << " query heads cannot share " << keyHeads << " key heads evenly";
  Sizes sizes{shapeOf(q)[0], shapeOf(q)[1], shapeOf(k)[1], shapeOf(q)[2] / heads, shapeOf(v)[2] / keyHeads};
  if (shapeOf(k)[2] / keyHeads != sizes.headWidth)
    return error() << "a head of q, " << q.getType() << ", is " << sizes.headWidth << " wide and one of k, "
                   << k.getType() << ", is " << shapeOf(k)[2] / keyHeads;
  if (shapeOf(k)[0] != sizes.batch || shapeOf(v)[0] != sizes.batch || shapeOf(v)[1] != sizes.keys)
    return error() << "q, k and v must have the same batch, and k and v the same positions, found "
                   << q.getType() << ", " << k.getType() << " and " << v.getType();
  if (!segments)
    return sizes;
  auto type = tensorType(segments);
  if (!type.getElementType().isInteger(32) || type.getShape() != shapeOf(q).take_front(2) ||
      sizes.keys != sizes.queries)
    return error()
           << "operand segments must be i32 [batch, positions] of queries that are the keys as well, found "
           << type << " with q, " << q.getType() << ", and k, " << k.getType();
  return sizes;
}

/// Reports an error unless `limit` is a scalar of i32, as in nn.positions, or has one for each sequence.
static LogicalResult checkLimit(Value limit, int64_t batch, InferError error) {
  if (!limit)
    return success();
  const RankedTensorType type = tensorType(limit);
  const bool fits = type.getRank() == 0 || type.getShape() == ArrayRef(batch);
  if (!fits || !type.getElementType().isInteger(32))
    return error() << "operand limit must be a tensor<i32>, or tensor<" << batch
                   << "xi32> with a limit for each sequence, found " << type;
  return success();
}

/// Reports an error unless `window` is from 1 to 2^31 - 1, and `softcap` finite and positive.
static LogicalResult checkScores(std::optional<uint64_t> window, std::optional<APFloat> softcap,
                                 InferError error) {
  if (window && (int64_t(*window) < 1 || int64_t(*window) > INT32_MAX))
    return error() << "window must be a number of keys from 1 to 2^31 - 1, found " << int64_t(*window);
  const float bound = softcap ? inF32(softcap->convertToDouble()) : 1;
  if (!(std::isfinite(bound) && bound > 0 && std::isfinite(1 / bound)))
    return error() << "softcap must be a number above 0, found " << formatInF32(softcap->convertToDouble());
  return success();
}

/// Reports an error unless `alibi` is finite and above 0, and queries attend only to earlier keys
/// (`isOneSided`).
static LogicalResult checkAlibi(std::optional<APFloat> alibi, bool isOneSided, InferError error) {
  if (!alibi)
    return success();
  const float factor = inF32(alibi->convertToDouble());
  if (!(std::isfinite(factor) && factor > 0))
    return error() << "alibi must be a factor of the slopes above 0, found "
                   << formatInF32(alibi->convertToDouble());
  if (!isOneSided)
    return error() << "alibi is for attention to earlier keys; add `causal`";
  return success();
}

/// Whether `value` has the element type of q or of the scores.
static bool isOfScores(Value value, Value q) {
  const Type element = tensorType(value).getElementType(), ofQ = tensorType(q).getElementType();
  return element == ofQ || element == wideElement(ofQ);
}

/// Reports an error unless `sinks` has a number for each head.
static LogicalResult checkSinks(Value sinks, Value q, int64_t heads, InferError error) {
  const RankedTensorType expected = RankedTensorType::get({heads}, tensorType(q).getElementType());
  if (sinks && (shapeOf(sinks) != expected.getShape() || !isOfScores(sinks, q)))
    return error() << "operand sinks must be " << expected << ", a number for each head, found "
                   << sinks.getType();
  return success();
}

/// Reports an error unless `bias` has a number for each head and distance.
static LogicalResult checkBias(Value bias, Value q, int64_t heads, const Sizes &sizes, InferError error) {
  if (!bias)
    return success();
  const RankedTensorType type = tensorType(bias);
  const int64_t positions = std::max(sizes.queries, sizes.keys);
  const auto fits = [&] {
    return type.getRank() == 2 && type.getDimSize(0) == heads && type.getDimSize(1) % 2 == 1 &&
           type.getDimSize(1) >= 2 * positions - 1 && isOfScores(bias, q);
  };
  if (!fits())
    return error() << "operand bias must be " << typeLike(q, {heads, 2 * positions - 1})
                   << ", a number for each head and distance, or odd and wider, found " << type
                   << "; nn.relative_bias makes one";
  return success();
}

/// Reports an error unless `dropout` is a probability below 1 and has a key.
static LogicalResult checkDropout(std::optional<APFloat> dropout, Value key, InferError error) {
  if (bool(dropout) != bool(key))
    return error() << "`dropout P` and `dropout_key` need each other: give both or none; "
                      "nn.dropout_key makes the key";
  if (!dropout)
    return success();
  const double p = dropout->convertToDouble();
  if (!(p >= 0 && inF32(p) < 1))
    return error() << "dropout must be at least 0 and below 1, found " << formatInF32(p);
  const RankedTensorType type = tensorType(key);
  if (!type.getElementType().isInteger(32) || type.getShape() != ArrayRef(AttentionOp::kKeyWords))
    return error() << "operand dropout_key must be a tensor<" << AttentionOp::kKeyWords << "xi32>, found "
                   << type;
  return success();
}

/// Returns the type of the log-sum-exp.
static RankedTensorType lseType(Value q, const Sizes &sizes, int64_t heads) {
  return RankedTensorType::get({sizes.batch, heads, sizes.queries},
                               wideElement(tensorType(q).getElementType()));
}

Inferred AttentionOp::inferTypes(Adaptor op, InferError error) {
  int64_t heads = op.getHeads();
  auto sizes = checkAttention(op.getQ(), op.getK(), op.getV(), op.getSegments(), heads,
                              op.getKvHeads().value_or(heads), error);
  if (failed(sizes) || failed(checkLimit(op.getLimit(), sizes->batch, error)) ||
      failed(checkScores(op.getWindow(), op.getSoftcap(), error)) ||
      failed(checkAlibi(op.getAlibi(), op.getCausal() || op.getLimit(), error)) ||
      failed(checkSinks(op.getSinks(), op.getQ(), heads, error)) ||
      failed(checkBias(op.getBias(), op.getQ(), heads, *sizes, error)) ||
      failed(checkDropout(op.getDropout(), op.getDropoutKey(), error)))
    return failure();
  if (double scale = op.getScale() ? op.getScale()->convertToDouble() : 1; !std::isfinite(inF32(scale)))
    return error() << "scale must be a finite number, found " << formatInF32(scale);
  return SmallVector<Type>{typeLike(op.getQ(), {sizes->batch, sizes->queries, heads * sizes->valueWidth}),
                           lseType(op.getQ(), *sizes, heads)};
}

Inferred AttentionGradOp::inferTypes(Adaptor op, InferError error) {
  int64_t heads = op.getHeads();
  auto sizes =
      checkAttention(op.getQ(), op.getK(), op.getV(), op.getSegments(), heads, op.getKvHeads(), error);
  if (failed(sizes) || failed(checkScores(op.getWindow(), op.getSoftcap(), error)) ||
      failed(checkAlibi(op.getAlibi(), op.getCausal(), error)) ||
      failed(checkBias(op.getBias(), op.getQ(), heads, *sizes, error)) ||
      failed(checkDropout(op.getDropout(), op.getDropoutKey(), error)))
    return failure();
  RankedTensorType out = typeLike(op.getQ(), {sizes->batch, sizes->queries, heads * sizes->valueWidth});
  RankedTensorType lse = lseType(op.getQ(), *sizes, heads);
  if (op.getOut().getType() != out || op.getDout().getType() != out || op.getLse().getType() != lse)
    return error() << "operands out, dout and lse must be " << out << ", " << out << " and " << lse
                   << ", found " << op.getOut().getType() << ", " << op.getDout().getType() << " and "
                   << op.getLse().getType();
  if (Value dlse = op.getDlse(); dlse && dlse.getType() != lse)
    return error() << "operand dlse must be " << lse << ", as lse is, found " << dlse.getType();
  SmallVector<Type> types{op.getQ().getType(), op.getK().getType(), op.getV().getType()};
  if (Value bias = op.getBias())
    types.push_back(bias.getType());
  return types;
}

double AttentionOp::scoreScale() {
  if (std::optional<APFloat> scale = getScale())
    return scale->convertToDouble();
  int64_t depth = shapeOf(getQ())[2] / int64_t(getHeads());
  return 1 / std::sqrt(double(depth));
}

/// Returns the cotangent of the sinks. A sink is the score of a key whose row of v is zero. So with D =
/// rowsum(dO O) - dlse, its cotangent is the sum of -e^(sink - lse) D over all queries of its head.
static Value buildSinksGradient(OpBuilder &builder, AttentionOp op, Value dout, Value dlse) {
  TensorBuilder b(builder, op.getLoc());
  const auto heads = int64_t(op.getHeads());
  const ArrayRef<int64_t> rows = shapeOf(op.getLse()); // [batch, heads, queries]
  Type element = tensorType(op.getLse()).getElementType();
  Value products = b.mul(b.convert(dout, element), b.convert(op.getOut(), element));
  Value perHead = b.reshape(products, {rows[0], rows[2], heads, shapeOf(dout)[2] / heads});
  Value sums = b.transpose(b.sum(perHead, {3}), {0, 2, 1});
  if (dlse)
    sums = b.sub(sums, dlse);
  Value sinks = b.reshape(b.convert(op.getSinks(), element), {1, heads, 1});
  Value weights = b.exp(b.sub(b.broadcastTo(sinks, rows), op.getLse()));
  Value cotangent = b.neg(b.sum(b.mul(weights, sums), {0, 2}));
  return b.convert(cotangent, tensorType(op.getSinks()).getElementType());
}

void AttentionOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool> needed,
                           MutableArrayRef<Value> out) {
  if (getLimit()) {
    emitOpError("has no gradient where `limit` is given; that form is for generation");
    return;
  }
  Value dout = g[0] ? g[0] : TensorBuilder(builder, getLoc()).constantLike(getOut(), 0);
  auto grad = AttentionGradOp::create(builder, getLoc(), getQ(), getK(), getV(), getOut(), getLse(), dout,
                                      getSegments(), /*dlse=*/g[1], getDropoutKey(), getBias(), getHeads(),
                                      keyHeads(), getCausal(), getWindowAttr(), getSoftcapAttr(),
                                      APFloat(scoreScale()), getAlibiAttr(), getDropoutAttr());
  llvm::copy(ValueRange{grad.getDq(), grad.getDk(), grad.getDv()}, out.begin());
  for (OpOperand &bias : getBiasMutable())
    out[bias.getOperandNumber()] = grad.getDbias();
  for (OpOperand &sinks : getSinksMutable())
    if (needed[sinks.getOperandNumber()])
      out[sinks.getOperandNumber()] = buildSinksGradient(builder, *this, dout, /*dlse=*/g[1]);
}

PrecisionClass AttentionOp::getPrecisionClass() { return PrecisionClass::Low; }

bool AttentionOp::mayStayF32(unsigned operand) {
  const Value value = getOperand(operand);
  return value == getSinks() || value == getBias();
}

/// Only the batch can be partitioned: positions attend to each other, and query heads share key heads.
IndexingRule AttentionOp::getIndexingRule() {
  IndexingRule rule{{{0, -1, -1}, {0, -1, -1}, {0, -1, -1}}, {{0, -1, -1}, {0, -1, -1}}};
  if (getSegments())
    rule.operands.push_back({0, -1});
  if (getLimit())
    rule.operands.push_back(shapeOf(getLimit()).empty() ? SmallVector<int>() : SmallVector<int>{0});
  for (Value perOp : {getSinks(), getDropoutKey(), getBias()})
    if (perOp)
      rule.operands.emplace_back(shapeOf(perOp).size(), -1);
  return rule;
}

SequenceDims AttentionOp::getSequenceDims() {
  SequenceDims dims{{1, 1, 1}, {1, 2}};
  if (getSegments())
    dims.operands.push_back(1);
  for (Value perOp : {getLimit(), getSinks(), getDropoutKey(), getBias()})
    if (perOp)
      dims.operands.push_back(-1);
  return dims;
}

/// Returns a log-sum-exp [texts, heads, 1] in the form of one row of queries, [1, heads, texts].
static Value inOneRow(TensorBuilder &b, Value lse) {
  const int64_t texts = shapeOf(lse)[0], heads = shapeOf(lse)[1];
  return b.reshape(b.transpose(b.reshape(lse, {texts, heads}), {1, 0}), {1, heads, texts});
}

/// Appends keys and values to caches; `limit` masks later positions. Without biases by position, attention
/// does not depend on the order of the keys in a window, so that caches hold only the positions of the
/// window. If there are caches of several texts, each query of the row belongs to one text. Generation has no
/// dropout.
SmallVector<Value> AttentionOp::buildIncremental(OpBuilder &builder, CacheScope &caches) {
  if (!getCausal()) {
    emitOpError("is not causal, which generation needs");
    return {};
  }
  const std::optional<int64_t> window =
      getAlibi() || getBias() ? std::nullopt : std::optional<int64_t>(getWindow());
  const CachedRows keys = caches.append(builder, getK(), window),
                   values = caches.append(builder, getV(), window);
  const bool hidesKeys = getWindow() && int64_t(*getWindow()) < shapeOf(keys.rows)[1];
  TensorBuilder b(builder, getLoc());
  const int64_t texts = shapeOf(keys.rows)[0];
  const bool isRowOfTexts = texts != shapeOf(getQ())[0];
  Value q = isRowOfTexts ? b.reshape(getQ(), {texts, 1, shapeOf(getQ())[2]}) : getQ();
  auto step =
      AttentionOp::create(builder, getLoc(), q, keys.rows, values.rows, /*segments=*/Value(), keys.limit,
                          getSinks(), /*dropout_key=*/Value(), getBias(), getHeadsAttr(), getKvHeadsAttr(),
                          /*causal=*/UnitAttr(), hidesKeys ? getWindowAttr() : IntegerAttr(),
                          getSoftcapAttr(), getScaleAttr(), getAlibiAttr(), /*dropout=*/FloatAttr());
  if (isRowOfTexts)
    return {b.reshape(step.getOut(), shapeOf(getOut())), inOneRow(b, step.getLse())};
  return {step.getOut(), step.getLse()};
}

/// Whether `window` hides no key, if the op has no limit.
static bool hidesNothing(int64_t window, Value q, Value k) {
  return window >= std::max(shapeOf(q)[1], shapeOf(k)[1]);
}

/// Removes dropout that drops nothing, because its probability is 0, or its key is zeros as outside of
/// training.
template <typename Op> static LogicalResult removeIdleDropout(Op op, PatternRewriter &rewriter) {
  if (!op.getDropout())
    return failure();
  auto key = op.getDropoutKey().template getDefiningOp<ConstantOp>();
  if (!op.getDropout()->isZero() && !(key && key.getValue().isZero()))
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    op.getDropoutKeyMutable().clear();
    op.removeDropoutAttr();
  });
  return success();
}

LogicalResult AttentionOp::canonicalize(AttentionOp op, PatternRewriter &rewriter) {
  if (succeeded(removeIdleDropout(op, rewriter)))
    return success();
  if (!op.getWindow() || op.getLimit() || !hidesNothing(*op.getWindow(), op.getQ(), op.getK()))
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.removeWindowAttr(); });
  return success();
}

LogicalResult AttentionGradOp::canonicalize(AttentionGradOp op, PatternRewriter &rewriter) {
  if (succeeded(removeIdleDropout(op, rewriter)))
    return success();
  if (!op.getWindow() || !hidesNothing(*op.getWindow(), op.getQ(), op.getK()))
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.removeWindowAttr(); });
  return success();
}

/// Returns the number of pairs of a query and a key in the mask. Segments are ignored; with a limit, the
/// window is the only bound.
static int64_t countPairs(int64_t queries, int64_t keys, bool causal, std::optional<int64_t> window,
                          bool hasLimit) {
  if (!window)
    return visiblePairs(queries, keys, causal);
  if (hasLimit)
    return queries * std::min(keys, *window);
  // Sum over x < end of the number x clamped to [0, keys].
  const auto sumBelow = [&](int64_t end) {
    const int64_t rising = std::clamp<int64_t>(end, 0, keys + 1);
    return rising * (rising - 1) / 2 + (std::max(end, rising) - rising) * keys;
  };
  // Query i attends to the keys [begin + i, end + i), as far as these exist.
  const int64_t shift = keys - queries, begin = shift - *window + 1, end = shift + (causal ? 1 : *window);
  return sumBelow(end + queries) - sumBelow(end) - (sumBelow(begin + queries) - sumBelow(begin));
}

template <typename Op>
static int64_t flopsOf(Op op, int64_t keyHeads, bool hasLimit, AttentionProducts products) {
  const int64_t heads = op.getHeads(), batch = shapeOf(op.getQ())[0];
  const int64_t pairs =
      countPairs(shapeOf(op.getQ())[1], shapeOf(op.getK())[1], op.getCausal(), op.getWindow(), hasLimit);
  int64_t headWidth = shapeOf(op.getQ())[2] / heads, valueWidth = shapeOf(op.getV())[2] / keyHeads;
  return attentionFlops(batch * heads * pairs, headWidth, valueWidth, products);
}

int64_t AttentionOp::getFlops() { return flopsOf(*this, keyHeads(), bool(getLimit()), kAttentionProducts); }

int64_t AttentionGradOp::getFlops() {
  return flopsOf(*this, int64_t(getKvHeads()), /*hasLimit=*/false, kAttentionGradProducts);
}

KernelClass AttentionOp::getKernelClass() { return KernelClass::Attention; }
KernelClass AttentionGradOp::getKernelClass() { return KernelClass::AttentionGrad; }
