// Gradient of attention. With P = softmax(S), S = scale q k^T, O = P v, and D = rowsum(dO O) - dlse =
// rowsum(P dP) - dlse: dv = P^T dO, dP = dO v^T, dS = P (dP - D), dq = scale dS k, dk = scale dS^T q. With a
// soft cap, dS is multiplied by the slope of the cap. With dropout, dP and the P of dv are multiplied by its
// factors. P is recomputed from the log-sum-exp.
#include "dialects/NN/Builders.h"
#include "lib/Codegen/Cpu/AttentionTiles.h"
#include "lib/Codegen/Cpu/Generators.h"
#include "lib/Codegen/Kernels/RowsEmitter.h"

#include "lib/Support/StoredElement.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/bit.h"

#include <limits>

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

namespace {

/// Rows of `out` per tile of the first launch.
int64_t summedRowsPerTile(const AttentionShape &shape) {
  return std::clamp<int64_t>(32768 / shape.valueWidth, 1, shape.rows());
}

/// Sizes and arguments that the launches share.
class GradEmitter {
public:
  GradEmitter(nn::AttentionGradOp op, KernelFunction &function)
      : op(op), function(function), emit(function.emit()),
        element(nn::wideElement(getElementTypeOrSelf(op.getQ()))), shape(op),
        scale(op.getScale().convertToDouble()) {}

  /// Writes D = rowsum(dO O) - dlse of every query to scratch 0, [batch, heads, queries].
  void rowSums();
  void queryGradient();
  void keyGradients();
  void biasGradient();

private:
  void declareInputs();
  /// Calls tile(batch element, head, first position) for every tile of the side with `positions` and `heads`.
  void eachTile(int64_t positions, int64_t heads, void (GradEmitter::*tile)(Value, Value, Value));
  void queryTile(Value b, Value head, Value first);
  void keyTile(Value b, Value keyHead, Value first);
  /// Computes P from S and dS from dP, in their buffers, for the `count` rows from position `row` on.
  /// With dropout, P is multiplied by its factors after dS is computed; `number` is that of the head.
  /// `statistics` is the offset of this head's queries in lse and D.
  void scoreGradients(bool lanesAreQueries, Value number, Value statistics, Value first, Value valid,
                      Value row, int64_t count);
  /// The log-sum-exp of a query without visible keys is -infinity. Replacing it by 0 makes all its P 0
  /// instead of NaN.
  Value finite(Value logSumExp) {
    Value none = emit.constant(logSumExp.getType(), -std::numeric_limits<double>::infinity());
    Value empty = arith::CmpFOp::create(emit.builder, emit.loc, arith::CmpFPredicate::OEQ, logSumExp, none);
    return arith::SelectOp::create(emit.builder, emit.loc, empty, emit.constant(none.getType(), 0),
                                   logSumExp);
  }

  nn::AttentionGradOp op;
  KernelFunction &function;
  Emitter &emit;
  Type element;
  AttentionShape shape;
  double scale;
  std::optional<AttentionTiles> tiles;
  Visibility visibility;
  std::optional<WeightDropout> dropout;
  Value q, k, v, dout, lse, sums;                         // arguments
  Value dq, dk, dv;                                       // results
  Value packedA, packedB, gradA, gradB, scores, dP, ones; // in the block's memory
  Value heldA, heldB;                                     // in the block's memory, of the other side
  Value heldBiases;                                       // in the block's memory
};

} // namespace

void GradEmitter::rowSums() {
  Value out = function.operand(op.getOutMutable().getOperandNumber());
  Value grad = function.operand(op.getDoutMutable().getOperandNumber());
  const int64_t width = shape.valueWidth, rows = shape.rows(), rowsPerTile = summedRowsPerTile(shape);
  const int64_t lanes = std::min<int64_t>(32, llvm::bit_ceil<uint64_t>(width)), whole = width / lanes * lanes;
  auto products = [&](Value sum, Value index, Mask mask) {
    Value a = emit.load({out, shape.element, index}, lanes, mask),
          b = emit.load({grad, shape.element, index}, lanes, mask);
    return math::FmaOp::create(emit.builder, emit.loc, a, b, sum).getResult();
  };
  function.tiles([&](Value tile) {
    Value begin = emit.mul(tile, rowsPerTile);
    emit.loop(begin, emit.min(emit.add(begin, rowsPerTile), emit.i64(rows)), 1, [&](Value row) {
      Value start = emit.mul(row, width), sum = emit.constant(Emitter::laneType(element, lanes), 0);
      sum = emit.loop(emit.i64(0), emit.i64(whole), lanes, sum, [&](Value column, ValueRange carried) {
        return SmallVector<Value>{products(carried[0], emit.add(start, column), Mask())};
      })[0];
      if (whole != width)
        sum = products(sum, emit.add(start, whole), emit.lanesBelow(emit.i64(width - whole), lanes));
      storeRowSum(op, function, row, combineLanes(emit, nn::ReduceKind::sum, sum));
    });
  });
}

void GradEmitter::declareInputs() {
  q = function.operand(op.getQMutable().getOperandNumber());
  k = function.operand(op.getKMutable().getOperandNumber());
  v = function.operand(op.getVMutable().getOperandNumber());
  dout = function.operand(op.getDoutMutable().getOperandNumber());
  lse = function.operand(op.getLseMutable().getOperandNumber());
  sums = function.scratch(0);
  visibility = Visibility(op, function);
  if (shape.dropout)
    dropout.emplace(op, function);
}

void GradEmitter::scoreGradients(bool lanesAreQueries, Value number, Value statistics, Value first,
                                 Value valid, Value row, int64_t count) {
  const int64_t lanes = tiles->lanes();
  auto ofQuery = [&](Value base, Value lane, Value i) {
    if (lanesAreQueries)
      return tiles->loadValid(base, element, emit.add(statistics, first), lane, valid);
    return emit.splat(emit.load({base, element, emit.add(statistics, emit.add(row, i))}), lanes);
  };
  tiles->eachVector([&](Value lane) {
    Value ownLse = lanesAreQueries ? finite(ofQuery(lse, lane, {})) : Value();
    Value ownSum = lanesAreQueries ? ofQuery(sums, lane, {}) : Value();
    eachRow(*tiles, dropout, lanesAreQueries, number, first, lane, row, count, [&](Value i, Value factors) {
      Address score = tiles->at(scores, i, lane), gradient = tiles->at(dP, i, lane);
      Value held = emit.load(score, lanes);
      Value difference = emit.sub(held, lanesAreQueries ? ownLse : finite(ofQuery(lse, lane, i)));
      Value p = math::ExpOp::create(emit.builder, emit.loc, difference);
      Value ofWeight = emit.load(gradient, lanes), weight = p;
      if (factors) {
        ofWeight = emit.mul(ofWeight, factors);
        weight = emit.mul(p, factors);
      }
      Value centred = emit.sub(ofWeight, lanesAreQueries ? ownSum : ofQuery(sums, lane, i));
      if (shape.softcap)
        centred = emit.mul(centred, capSlope(emit, held, *shape.softcap));
      emit.store(weight, score);
      emit.store(emit.mul(p, centred), gradient);
    });
  });
}

void GradEmitter::eachTile(int64_t positions, int64_t heads, void (GradEmitter::*tile)(Value, Value, Value)) {
  tiles.emplace(function, shape.element, positions, shape.widest());
  packedA = tiles->buffer(shape.depth);
  packedB = tiles->buffer(shape.valueWidth);
  gradA = tiles->buffer(shape.depth);
  gradB = tiles->buffer(shape.valueWidth);
  scores = tiles->buffer(AttentionTiles::kBlock);
  dP = tiles->buffer(AttentionTiles::kBlock);
  ones = tiles->buffer(1);
  heldA = tiles->rowBuffer(shape.element, shape.depth);
  heldB = tiles->rowBuffer(shape.element, shape.valueWidth);
  if (shape.biasWidth > 0)
    heldBiases = function.blockArray(element, codegen::heldBiases(tiles->width()));
  tiles->fill(ones, 1, 1);
  const int64_t blocks = llvm::divideCeil(positions, tiles->width());
  function.tiles([&](Value index) {
    Value head = emit.divide(index, blocks), first = emit.mul(emit.remainder(index, blocks), tiles->width());
    (this->*tile)(emit.divide(head, heads), emit.remainder(head, heads), first);
  });
}

// --- dq ---

void GradEmitter::queryGradient() {
  declareInputs();
  dq = function.result(0);
  eachTile(shape.queries, shape.heads, &GradEmitter::queryTile);
}

void GradEmitter::queryTile(Value b, Value head, Value first) {
  Value valid = emit.min(emit.i64(tiles->width()), emit.sub(emit.i64(shape.queries), first));
  Value keyHead = emit.divide(head, shape.group()), statistics = shape.statistics(emit, b, head);
  HeadRows keys = shape.keyRows(emit, k, b, keyHead), values = shape.valueRows(emit, v, b, keyHead);
  visibility.enter(emit, b);
  Value number = dropout ? dropout->number(emit, shape, b, head) : Value();
  Value slope = shape.alibi ? alibiSlope(emit, shape, head, element) : Value();
  tiles->pack(packedA, shape.queryRows(emit, q, b, head).from(emit, first), valid, scale);
  tiles->pack(packedB, shape.outRows(emit, dout, b, head).from(emit, first), valid, 1);
  tiles->fill(gradA, shape.depth, 0);
  std::optional<DistanceBias> bias;
  const DistanceSums distances(shape, tiles->width());
  Value ofDistances;
  if (shape.biasWidth > 0) {
    bias.emplace(op, function, visibility, head);
    ofDistances = distances.row(emit, b, head, first);
    Value none = emit.constant(Emitter::laneType(element, tiles->lanes()), 0);
    emit.loop(emit.i64(0), emit.i64(distances.stride), tiles->lanes(), [&](Value index) {
      emit.store(none, {function.scratch(1), element, emit.add(ofDistances, index)});
    });
  }
  const PositionRange visibleKeys = visibility.keysOf(emit, {first, emit.add(first, valid)});
  tiles->blocks(visibleKeys, shape.keys, [&](Value key, int64_t count) {
    HeadRows heldKeys = tiles->held(keys, key, count, heldA),
             heldValues = tiles->held(values, key, count, heldB);
    tiles->scores(scores, heldKeys.from(emit, key), count, packedA);
    tiles->scores(dP, heldValues.from(emit, key), count, packedB);
    if (slope)
      tiles->bias(scores, slope, visibility, true, first, key, count);
    if (bias)
      addBias(*tiles, scores, *bias, heldBiases, true, first, key, count);
    if (shape.softcap)
      tiles->cap(scores, count, *shape.softcap);
    tiles->hide(scores, visibility, true, first, valid, key, count);
    scoreGradients(true, number, statistics, first, valid, key, count);
    if (bias)
      addToSums(*tiles, distances, function.scratch(1), ofDistances, dP, valid, key, count);
    tiles->accumulate(gradA, heldKeys.from(emit, key), count, dP, ones);
  });
  Value factor = emit.constant(Emitter::laneType(element, AttentionTiles::kSquare), scale);
  tiles->unpack(gradA, shape.queryRows(emit, dq, b, head).from(emit, first), valid,
                [&](Value) { return factor; });
}

// --- dk, dv ---

void GradEmitter::keyGradients() {
  declareInputs();
  dk = function.result(1);
  dv = function.result(2);
  eachTile(shape.keys, shape.keyHeads, &GradEmitter::keyTile);
}

/// Query heads that share the key head are added in order.
void GradEmitter::keyTile(Value b, Value keyHead, Value first) {
  Value valid = emit.min(emit.i64(tiles->width()), emit.sub(emit.i64(shape.keys), first));
  visibility.enter(emit, b);
  tiles->pack(packedA, shape.keyRows(emit, k, b, keyHead).from(emit, first), valid, scale);
  tiles->pack(packedB, shape.valueRows(emit, v, b, keyHead).from(emit, first), valid, 1);
  tiles->fill(gradA, shape.depth, 0);
  tiles->fill(gradB, shape.valueWidth, 0);
  const PositionRange visibleTo = visibility.queriesOf(emit, {first, emit.add(first, valid)});
  emit.loop(emit.i64(0), emit.i64(shape.group()), 1, [&](Value member) {
    Value head = emit.add(emit.mul(keyHead, shape.group()), member),
          statistics = shape.statistics(emit, b, head);
    Value number = dropout ? dropout->number(emit, shape, b, head) : Value();
    Value slope = shape.alibi ? alibiSlope(emit, shape, head, element) : Value();
    std::optional<DistanceBias> bias;
    if (shape.biasWidth > 0)
      bias.emplace(op, function, visibility, head);
    HeadRows queries = shape.queryRows(emit, q, b, head), grads = shape.outRows(emit, dout, b, head);
    tiles->blocks(visibleTo, shape.queries, [&](Value query, int64_t count) {
      HeadRows heldQueries = tiles->held(queries, query, count, heldA),
               heldGrads = tiles->held(grads, query, count, heldB);
      tiles->scores(scores, heldQueries.from(emit, query), count, packedA);
      tiles->scores(dP, heldGrads.from(emit, query), count, packedB);
      if (slope)
        tiles->bias(scores, slope, visibility, false, first, query, count);
      if (bias)
        addBias(*tiles, scores, *bias, heldBiases, false, first, query, count);
      if (shape.softcap)
        tiles->cap(scores, count, *shape.softcap);
      tiles->hide(scores, visibility, false, first, valid, query, count);
      scoreGradients(false, number, statistics, first, valid, query, count);
      tiles->accumulate(gradB, heldGrads.from(emit, query), count, scores, ones);
      tiles->accumulate(gradA, heldQueries.from(emit, query), count, dP, ones);
    });
  });
  Type vector = Emitter::laneType(element, AttentionTiles::kSquare);
  Value factor = emit.constant(vector, scale), one = emit.constant(vector, 1);
  tiles->unpack(gradA, shape.keyRows(emit, dk, b, keyHead).from(emit, first), valid,
                [&](Value) { return factor; });
  tiles->unpack(gradB, shape.valueRows(emit, dv, b, keyHead).from(emit, first), valid,
                [&](Value) { return one; });
}

// --- The gradient of the biases ---

/// Numbers per tile of the launch of the biases' gradient.
static constexpr int64_t kBiasesPerTile = 256;

void GradEmitter::biasGradient() {
  const DistanceSums distances(shape, attentionTileWidth(shape.queries, shape.widest()));
  const int64_t count = shape.heads * shape.biasWidth;
  function.tiles([&](Value tile) {
    Value begin = emit.mul(tile, kBiasesPerTile);
    emit.loop(begin, emit.min(emit.add(begin, kBiasesPerTile), emit.i64(count)), 1,
              [&](Value index) { distances.storeTotal(op, function, index); });
  });
}

// --- The launches ---

/// Returns the launch of dq, or of dk and dv: one tile for each block of `positions` of one head.
/// `keysPerDraw` keys share a draw of dropout.
static LaunchSummary gradientLaunch(nn::AttentionGradOp op, const KernelSummary &kernels, StringRef name,
                                    int64_t positions, int64_t heads, ArrayRef<unsigned> results,
                                    int64_t flops, int64_t keysPerDraw) {
  const AttentionShape shape(op);
  const int64_t width = attentionTileWidth(positions, shape.widest());
  return LaunchSummary{
      .name = name.str(),
      .grid = shape.batch * heads * int64_t(llvm::divideCeil(positions, width)),
      .params = gradientParams(op, kernels, results),
      .flops = flops,
      .arithmetic = shape.scoreArithmetic(op.getFlops(), 3, 2, kScoreInstructions, keysPerDraw),
      .sharedBytes =
          AttentionTiles::bufferBytes(shape.element, width,
                                      {shape.depth, shape.valueWidth, shape.depth, shape.valueWidth,
                                       AttentionTiles::kBlock, AttentionTiles::kBlock, 1}) +
          AttentionTiles::rowBufferBytes(shape.element, shape.depth) +
          AttentionTiles::rowBufferBytes(shape.element, shape.valueWidth) + heldBiasBytes(shape, width)};
}

KernelSummary trainc::codegen::summariseAttentionGrad(nn::AttentionGradOp op) {
  const AttentionShape shape(op);
  KernelSummary kernels;
  kernels.scratchBytes.push_back(rowSumBytes(op));
  kernels.launches.push_back({.name = "attention_row_sums",
                              .grid = int64_t(llvm::divideCeil(shape.rows(), summedRowsPerTile(shape))),
                              .params = rowSumParams(op, kernels)});
  // Three of the seven products are in the second launch, four in the third; the op counts five.
  const int64_t flops = op.getFlops();
  kernels.launches.push_back(gradientLaunch(op, kernels, "attention_grad_q", shape.queries, shape.heads, {0},
                                            flops / 5 * 2, WeightDropout::kShared));
  kernels.launches.push_back(gradientLaunch(op, kernels, "attention_grad_kv", shape.keys, shape.keyHeads,
                                            {1, 2}, flops - flops / 5 * 2, /*keysPerDraw=*/1));
  if (shape.biasWidth > 0)
    summariseBiasGradient(op, kernels, attentionTileWidth(shape.queries, shape.widest()), /*threads=*/1,
                          kBiasesPerTile);
  return kernels;
}

Symbols trainc::codegen::generateAttentionGrad(nn::AttentionGradOp op, KernelModule &kernels) {
  const KernelSummary summary = summariseAttentionGrad(op);
  Symbols symbols;
  for (auto [launch, emit] : // without biases there is no last launch
       llvm::zip(summary.launches, std::initializer_list<void (GradEmitter::*)()>{
                                       &GradEmitter::rowSums, &GradEmitter::queryGradient,
                                       &GradEmitter::keyGradients, &GradEmitter::biasGradient})) {
    KernelFunction function(kernels, launch);
    (GradEmitter(op, function).*emit)();
    symbols.push_back(function.finish());
  }
  return symbols;
}
