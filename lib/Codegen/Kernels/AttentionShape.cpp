#include "lib/Codegen/Kernels/AttentionShape.h"

#include "dialects/NN/Builders.h"
#include "dialects/NN/Philox.h"
#include "lib/Support/StoredElement.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

HeadRows HeadRows::from(Emitter &emit, Value first) const {
  return {base, element, emit.add(offset, emit.mul(first, stride)), stride, width};
}

static HeadRows headRows(Emitter &emit, Value base, Type element, Value batch, Value head, int64_t positions,
                         int64_t heads, int64_t width) {
  Value offset = emit.add(emit.mul(batch, positions * heads * width), emit.mul(head, width));
  return {base, element, offset, heads * width, width};
}

HeadRows AttentionShape::queryRows(Emitter &emit, Value base, Value b, Value head) const {
  return headRows(emit, base, element, b, head, queries, heads, depth);
}
HeadRows AttentionShape::keyRows(Emitter &emit, Value base, Value b, Value keyHead) const {
  return headRows(emit, base, element, b, keyHead, keys, keyHeads, depth);
}
HeadRows AttentionShape::valueRows(Emitter &emit, Value base, Value b, Value keyHead) const {
  return headRows(emit, base, element, b, keyHead, keys, keyHeads, valueWidth);
}
HeadRows AttentionShape::outRows(Emitter &emit, Value base, Value b, Value head) const {
  return headRows(emit, base, element, b, head, queries, heads, valueWidth);
}

Value AttentionShape::statistics(Emitter &emit, Value b, Value head) const {
  return emit.mul(emit.add(emit.mul(b, heads), head), queries);
}

// --- Scores ---

Value trainc::codegen::capScore(Emitter &emit, Value score, double cap) {
  Value scaled = emit.mul(score, emit.constant(score.getType(), 1 / cap));
  Value bounded = math::TanhOp::create(emit.builder, emit.loc, scaled);
  return emit.mul(bounded, emit.constant(score.getType(), cap));
}

Value trainc::codegen::capSlope(Emitter &emit, Value capped, double cap) {
  const auto number = [&](double value) { return emit.constant(capped.getType(), value); };
  Value isSeen =
      arith::CmpFOp::create(emit.builder, emit.loc, arith::CmpFPredicate::OGE, capped, number(-cap));
  Value bounded = emit.mul(arith::SelectOp::create(emit.builder, emit.loc, isSeen, capped, number(-cap)),
                           number(1 / cap));
  return emit.sub(number(1), emit.mul(bounded, bounded));
}

Value trainc::codegen::alibiSlope(Emitter &emit, const AttentionShape &shape, Value head, Type element) {
  const auto power = int64_t(llvm::bit_floor<uint64_t>(shape.heads));
  // The slope is 2^(-4 n / power), with n = 2(h + 1) for heads h < power, and n = 2(h - power) + 1 for
  // others.
  Value numerator = emit.mul(emit.add(head, 1), 2);
  if (power != shape.heads)
    numerator = arith::SelectOp::create(emit.builder, emit.loc, emit.less(head, emit.i64(power)), numerator,
                                        emit.add(emit.mul(emit.sub(head, emit.i64(power)), 2), 1));
  Value steps = arith::SIToFPOp::create(emit.builder, emit.loc, element, numerator);
  Value exponent = emit.mul(steps, emit.constant(element, -4 * std::numbers::ln2 / double(power)));
  return emit.mul(math::ExpOp::create(emit.builder, emit.loc, exponent),
                  emit.constant(element, *shape.alibi));
}

DistanceBias::DistanceBias(const AttentionShape &shape, OpOperand &bias, KernelFunction &function,
                           const Visibility &visibility, Value head)
    : biases(function.operand(bias.getOperandNumber())), element(getElementTypeOrSelf(bias.get())),
      count(shape.heads * shape.biasWidth) {
  Emitter &emit = function.emit();
  origin =
      emit.add(emit.add(emit.mul(head, shape.biasWidth), shape.biasWidth / 2), visibility.firstQuery(emit));
}

Address DistanceBias::at(Emitter &emit, Value query, Value key) const {
  Value index = emit.add(origin, emit.sub(query, key));
  return {biases, element, emit.max(emit.min(index, emit.i64(count - 1)), emit.i64(0))};
}

// --- Dropout ---

/// Loads the words of the key. If all are 0, no weight is dropped: the threshold is 0.
WeightDropout::WeightDropout(double probability, OpOperand &key, KernelFunction &function)
    : probability(probability) {
  Emitter &emit = function.emit();
  Value words = function.operand(key.getOperandNumber());
  for (int64_t index = 0; index < nn::AttentionOp::kKeyWords; ++index) {
    Value word = emit.load({words, emit.builder.getI32Type(), emit.i64(index)});
    keyWords.push_back(arith::ExtUIOp::create(emit.builder, emit.loc, emit.builder.getI64Type(), word));
  }
  Value any = keyWords.front();
  for (Value word : ArrayRef(keyWords).drop_front())
    any = arith::OrIOp::create(emit.builder, emit.loc, any, word);
  Value isZero = arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::eq, any, emit.i64(0));
  threshold = arith::SelectOp::create(emit.builder, emit.loc, isZero, emit.i64(0),
                                      emit.i64(int64_t(std::ceil(probability * 0x1p24))));
}

Value WeightDropout::number(Emitter &emit, const AttentionShape &shape, Value batch, Value head) const {
  Value sample = emit.add(emit.mul(keyWords[3], shape.batch), batch);
  Value number = emit.add(emit.mul(sample, shape.heads), head);
  return arith::AndIOp::create(emit.builder, emit.loc, number, emit.i64(UINT32_MAX));
}

std::array<Value, WeightDropout::kShared> WeightDropout::draw(Emitter &emit, Value number, Value query,
                                                              Value group, int64_t lanes) const {
  const LaneContext context{emit.loc, lanes, {}, {}, {}};
  const auto all = [&](Value scalar) { return lanes == 0 ? scalar : emit.splat(scalar, lanes); };
  return nn::Philox(emit.builder, context)
      .draw({group, query, number, all(keyWords[2])}, {all(keyWords[0]), all(keyWords[1])});
}

Value WeightDropout::factor(Emitter &emit, Value word, int64_t lanes, Type element) const {
  OpBuilder &builder = emit.builder;
  const auto all = [&](Value scalar) { return lanes == 0 ? scalar : emit.splat(scalar, lanes); };
  Value bits = arith::ShRUIOp::create(builder, emit.loc, word, all(emit.i64(8)));
  Value isDropped = arith::CmpIOp::create(builder, emit.loc, arith::CmpIPredicate::ult, bits, all(threshold));
  // Without a threshold nothing is dropped, and nothing is scaled.
  Value scale =
      arith::SelectOp::create(builder, emit.loc, emit.less(emit.i64(0), threshold),
                              emit.constant(element, 1 / (1 - probability)), emit.constant(element, 1));
  Value none = emit.constant(Emitter::laneType(element, lanes), 0);
  return arith::SelectOp::create(builder, emit.loc, isDropped, none, all(scale));
}

Value WeightDropout::factors(Emitter &emit, Value number, Value query, Value key, int64_t lanes,
                             Type element) const {
  OpBuilder &builder = emit.builder;
  const LaneContext context{emit.loc, lanes, {}, {}, {}};
  const auto whole = [&](int64_t value) { return context.constantInt(builder, builder.getI64Type(), value); };
  const auto words =
      draw(emit, number, query, arith::ShRUIOp::create(builder, emit.loc, key, whole(2)), lanes);
  const auto bit = [&](int64_t mask) -> Value {
    Value masked = arith::AndIOp::create(builder, emit.loc, key, whole(mask));
    return arith::CmpIOp::create(builder, emit.loc, arith::CmpIPredicate::ne, masked, whole(0));
  };
  const auto select = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(builder, emit.loc, condition, yes, no);
  };
  Value isOdd = bit(1);
  Value word = select(bit(2), select(isOdd, words[3], words[2]), select(isOdd, words[1], words[0]));
  return factor(emit, word, lanes, element);
}

// --- Masks ---

/// Sets the masks that attention and its gradient share.
template <typename Op>
static void takeMasks(Visibility &visibility, Op op, bool hasLimit, KernelFunction &function) {
  const AttentionShape shape(op);
  const int64_t shift = shape.keys - shape.queries;
  visibility.queryCount = shape.queries;
  visibility.keyCount = shape.keys;
  const bool isOneSided = op.getCausal() || hasLimit;
  if (op.getCausal())
    visibility.last = shift;
  if (op.getWindow()) {
    const int64_t reach = int64_t(*op.getWindow()) - 1;
    visibility.span = isOneSided ? reach : 2 * reach;
    if (!isOneSided)
      visibility.last = shift + reach;
  }
  if (Value segments = op.getSegments()) {
    visibility.segments = function.operand(op.getSegmentsMutable()[0].getOperandNumber());
    visibility.segmentType = getElementTypeOrSelf(segments);
  }
}

/// Returns element `index` of the limits, i64.
static Value loadLimit(Emitter &emit, Value limits, Value index) {
  Value limit = emit.load({limits, emit.builder.getI32Type(), index});
  return arith::ExtSIOp::create(emit.builder, emit.loc, emit.builder.getI64Type(), limit);
}

Visibility::Visibility(nn::AttentionOp op, KernelFunction &function) {
  takeMasks(*this, op, bool(op.getLimit()), function);
  if (Value tensor = op.getLimit()) {
    Emitter &emit = function.emit();
    Value pointer = function.operand(op.getLimitMutable()[0].getOperandNumber());
    if (nn::shapeOf(tensor).empty())
      limit = loadLimit(emit, pointer, emit.i64(0));
    else
      limits = pointer;
  }
}

Visibility::Visibility(nn::AttentionGradOp op, KernelFunction &function) {
  takeMasks(*this, op, /*hasLimit=*/false, function);
}

void Visibility::enter(Emitter &emit, Value batch) {
  segmentBase = emit.mul(batch, queryCount);
  if (limits)
    limit = loadLimit(emit, limits, batch);
}

PositionRange Visibility::keysOf(Emitter &emit, const PositionRange &queries) const {
  Value begin = emit.i64(0), end = emit.i64(keyCount);
  if (last)
    end = emit.min(end, emit.add(queries.end, *last));
  if (limit)
    end = emit.min(end, emit.add(queries.end, limit));
  if (span)
    begin = emit.max(emit.add(queries.begin, lowerBound(emit)), begin);
  return {begin, end};
}

PositionRange Visibility::queriesOf(Emitter &emit, const PositionRange &keys) const {
  Value begin = emit.i64(0), end = emit.i64(queryCount);
  if (last)
    begin = emit.max(emit.sub(keys.begin, emit.i64(*last)), begin);
  if (span)
    end = emit.min(end, emit.sub(keys.end, lowerBound(emit)));
  return {begin, end};
}

Value Visibility::upperBound(Emitter &emit) const {
  if (limit && last)
    return emit.min(limit, emit.i64(*last));
  return limit ? limit : emit.i64(*last);
}

Value Visibility::firstQuery(Emitter &emit) const { return limit ? limit : emit.i64(keyCount - queryCount); }

Value Visibility::lowerBound(Emitter &emit) const { return emit.sub(upperBound(emit), emit.i64(*span)); }

// --- The gradient ---

int64_t trainc::codegen::rowSumBytes(nn::AttentionGradOp op) {
  return elementCount(op.getLse()) * elementBytes(getElementTypeOrSelf(op.getLse()));
}

SmallVector<KernelParam> trainc::codegen::rowSumParams(nn::AttentionGradOp op, const KernelSummary &kernels) {
  SmallVector<KernelParam> params{operandParam(op, op.getOutMutable().getOperandNumber()),
                                  operandParam(op, op.getDoutMutable().getOperandNumber())};
  for (OpOperand &dlse : op.getDlseMutable())
    params.push_back(operandParam(op, dlse.getOperandNumber()));
  params.push_back(scratchParam(kernels, 0, plan::Access::write, getElementTypeOrSelf(op.getLse())));
  return params;
}

Value DistanceSums::row(Emitter &emit, Value batch, Value head, Value first) const {
  Value ofHead = emit.add(emit.mul(batch, shape.heads), head);
  return emit.mul(emit.add(emit.mul(ofHead, perHead), emit.divide(first, block)), stride);
}

void DistanceSums::storeTotal(nn::AttentionGradOp op, KernelFunction &function, Value index) const {
  Emitter &emit = function.emit();
  const Type element = nn::wideElement(shape.element);
  Value head = emit.divide(index, shape.biasWidth);
  Value distance = emit.sub(emit.remainder(index, shape.biasWidth), emit.i64(shape.biasWidth / 2));
  // Query first + i has the position first + i + keys - queries among the keys. So its distance d to key j is
  // first + i + keys - queries - j, and the sum's index in the row is d - first + queries - 1.
  Value start = emit.add(distance, shape.queries - 1), none = emit.constant(element, 0);
  Value total = emit.loop(emit.i64(0), emit.i64(shape.batch), 1, none, [&](Value batch, ValueRange ofBatch) {
    return emit.loop(emit.i64(0), emit.i64(perHead), 1, ofBatch, [&](Value number, ValueRange carried) {
      Value first = emit.mul(number, block), place = emit.sub(start, first);
      Value within = emit.max(emit.min(place, emit.i64(stride - 1)), emit.i64(0));
      Value sum = emit.load({function.scratch(1), element, emit.add(row(emit, batch, head, first), within)});
      Value isThere = arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::eq, place, within);
      sum = arith::SelectOp::create(emit.builder, emit.loc, isThere, sum, none);
      return SmallVector<Value>{emit.add(carried[0], sum)};
    });
  })[0];
  emit.store(total, {function.result(3), getElementTypeOrSelf(op.getDbias()), index});
}

void trainc::codegen::summariseBiasGradient(nn::AttentionGradOp op, KernelSummary &kernels, int64_t block,
                                            int64_t threads, int64_t numbersPerTile) {
  const AttentionShape shape(op);
  const Type element = nn::wideElement(shape.element);
  const DistanceSums sums(shape, block);
  kernels.scratchBytes.push_back(sums.count() * elementBytes(element));
  for (LaunchSummary &launch : kernels.launches)
    if (llvm::any_of(launch.params, [](const KernelParam &param) {
          return param.source == KernelParam::Source::Result && param.index == 0;
        }))
      launch.params.push_back(scratchParam(kernels, 1, plan::Access::write, element));
  kernels.launches.push_back(
      {.name = "attention_grad_bias",
       .grid = int64_t(llvm::divideCeil(shape.heads * shape.biasWidth, numbersPerTile)),
       .params = {scratchParam(kernels, 1, plan::Access::read, element), resultParam(op, 3)},
       .threads = threads});
}

SmallVector<KernelParam> trainc::codegen::gradientParams(nn::AttentionGradOp op, const KernelSummary &kernels,
                                                         ArrayRef<unsigned> results) {
  SmallVector<KernelParam> params;
  auto read = [&](OpOperand &operand) { params.push_back(operandParam(op, operand.getOperandNumber())); };
  for (OpOperand *operand :
       {&op.getQMutable(), &op.getKMutable(), &op.getVMutable(), &op.getDoutMutable(), &op.getLseMutable()})
    read(*operand);
  params.push_back(scratchParam(kernels, 0, plan::Access::read, getElementTypeOrSelf(op.getLse())));
  for (OpOperand &segments : op.getSegmentsMutable())
    read(segments);
  for (OpOperand &key : op.getDropoutKeyMutable())
    read(key);
  for (OpOperand &bias : op.getBiasMutable())
    read(bias);
  for (unsigned result : results)
    params.push_back(resultParam(op, result));
  return params;
}

void trainc::codegen::storeRowSum(nn::AttentionGradOp op, KernelFunction &function, Value row, Value sum) {
  Emitter &emit = function.emit();
  const AttentionShape shape(op);
  Value head = emit.remainder(row, shape.heads), position = emit.divide(row, shape.heads);
  Value to = emit.add(shape.statistics(emit, emit.divide(position, shape.queries), head),
                      emit.remainder(position, shape.queries));
  Type element = nn::wideElement(shape.element);
  if (op.getDlse()) {
    Value dlse = function.operand(op.getDlseMutable()[0].getOperandNumber());
    sum = emit.sub(sum, emit.load({dlse, element, to}));
  }
  emit.store(sum, {function.scratch(0), element, to});
}

// --- The launch of attention ---

KernelSummary trainc::codegen::attentionSummary(nn::AttentionOp op, LaunchSummary launch) {
  launch.flops = op.getFlops();
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    launch.params.push_back(operandParam(op, i));
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    launch.params.push_back(resultParam(op, i));
  KernelSummary kernels;
  kernels.launches.push_back(std::move(launch));
  return kernels;
}
