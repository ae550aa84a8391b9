// Attention, forward: softmax(scale q k^T) v without a matrix of scores (Milakov and Gimelshein 2018; Dao et
// al. 2022).
#include "dialects/NN/Builders.h"
#include "lib/Codegen/Cpu/AttentionTiles.h"
#include "lib/Codegen/Cpu/Generators.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>
#include <optional>

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

namespace {

/// Generates one tile: a block of queries of one head of one sequence.
class ForwardEmitter {
public:
  ForwardEmitter(nn::AttentionOp op, KernelFunction &function)
      : op(op), function(function), emit(function.emit()),
        element(nn::wideElement(getElementTypeOrSelf(op.getQ()))), shape(op),
        tiles(function, shape.element, shape.queries, shape.widest()) {}

  void run() {
    q = function.operand(0);
    k = function.operand(1);
    v = function.operand(2);
    visibility = Visibility(op, function);
    if (shape.dropout)
      dropout.emplace(op, function);
    if (op.getSinks())
      sinks = function.operand(op.getSinksMutable()[0].getOperandNumber());
    out = function.result(0);
    lse = function.result(1);
    packedQ = tiles.buffer(shape.depth);
    sums = tiles.buffer(shape.valueWidth);
    scores = tiles.buffer(AttentionTiles::kBlock);
    largest = tiles.buffer(1);
    total = tiles.buffer(1);
    decay = tiles.buffer(1);
    heldRows = tiles.rowBuffer(shape.element, shape.widest());
    if (shape.biasWidth > 0)
      heldBiases = function.blockArray(element, codegen::heldBiases(tiles.width()));
    const int64_t blocks = llvm::divideCeil(shape.queries, tiles.width());
    function.tiles([&](Value index) {
      Value head = emit.divide(index, blocks), first = emit.mul(emit.remainder(index, blocks), tiles.width());
      tile(emit.divide(head, shape.heads), emit.remainder(head, shape.heads), first);
    });
  }

private:
  void tile(Value b, Value head, Value first) {
    Value valid = emit.min(emit.i64(tiles.width()), emit.sub(emit.i64(shape.queries), first));
    Value keyHead = emit.divide(head, shape.group());
    HeadRows keyRows = shape.keyRows(emit, k, b, keyHead);
    HeadRows valueRows = shape.valueRows(emit, v, b, keyHead);
    visibility.enter(emit, b);
    tiles.pack(packedQ, shape.queryRows(emit, q, b, head).from(emit, first), valid, op.scoreScale());
    tiles.fill(sums, shape.valueWidth, 0);
    startSums(head);
    Value slope = shape.alibi ? alibiSlope(emit, shape, head, element) : Value();
    Value number = dropout ? dropout->number(emit, shape, b, head) : Value();
    std::optional<DistanceBias> bias;
    if (shape.biasWidth > 0)
      bias.emplace(op, function, visibility, head);
    tiles.blocks(visibility.keysOf(emit, {first, emit.add(first, valid)}), shape.keys,
                 [&](Value key, int64_t count) {
                   HeadRows heldKeys = tiles.held(keyRows, key, count, heldRows);
                   tiles.scores(scores, heldKeys.from(emit, key), count, packedQ);
                   if (slope)
                     tiles.bias(scores, slope, visibility, true, first, key, count);
                   if (bias)
                     addBias(tiles, scores, *bias, heldBiases, true, first, key, count);
                   if (shape.softcap)
                     tiles.cap(scores, count, *shape.softcap);
                   tiles.hide(scores, visibility, true, first, valid, key, count);
                   tiles.eachVector([&](Value lane) { softmax(count, lane); });
                   if (dropout)
                     drop(number, first, key, count);
                   HeadRows heldValues = tiles.held(valueRows, key, count, heldRows);
                   tiles.accumulate(sums, heldValues.from(emit, key), count, scores, decay);
                 });
    finish(b, head, first, valid);
  }

  /// Sets the maximum and the sum to those of the head's sink, or of no score.
  void startSums(Value head) {
    if (!sinks) {
      tiles.fill(total, 1, 0);
      tiles.fill(largest, 1, -std::numeric_limits<double>::infinity());
      return;
    }
    tiles.fill(total, 1, 1);
    Value sink = emit.splat(emit.load({sinks, getElementTypeOrSelf(op.getSinks()), head}), tiles.lanes());
    tiles.eachVector([&](Value lane) { emit.store(sink, {largest, element, lane}); });
  }

  /// Replaces the scores of a block by e^(score - maximum so far), and updates the sum, the maximum, and the
  /// factor of earlier sums.
  void softmax(int64_t count, Value lane) {
    const int64_t lanes = tiles.lanes();
    Type vector = Emitter::laneType(element, lanes);
    Value none = emit.constant(vector, -std::numeric_limits<double>::infinity());
    Value before = emit.load({largest, element, lane}, lanes);
    Value after = emit.loop(emit.i64(0), emit.i64(count), 1, before, [&](Value row, ValueRange carried) {
      Value score = emit.load(tiles.at(scores, row, lane), lanes);
      Value more =
          arith::CmpFOp::create(emit.builder, emit.loc, arith::CmpFPredicate::OGT, score, carried[0]);
      return SmallVector<Value>{arith::SelectOp::create(emit.builder, emit.loc, more, score, carried[0])};
    })[0];
    emit.store(after, {largest, element, lane});
    // If no key was visible yet, the maximum is -infinity; subtracting 0 instead avoids NaN.
    Value unseen = arith::CmpFOp::create(emit.builder, emit.loc, arith::CmpFPredicate::OEQ, after, none);
    Value shift = arith::SelectOp::create(emit.builder, emit.loc, unseen, emit.constant(vector, 0), after);
    Value shrink = math::ExpOp::create(emit.builder, emit.loc, emit.sub(before, shift));
    emit.store(shrink, {decay, element, lane});
    Value sum = emit.mul(emit.load({total, element, lane}, lanes), shrink);
    sum = emit.loop(emit.i64(0), emit.i64(count), 1, sum, [&](Value row, ValueRange carried) {
      Address at = tiles.at(scores, row, lane);
      Value p = math::ExpOp::create(emit.builder, emit.loc, emit.sub(emit.load(at, lanes), shift));
      emit.store(p, at);
      return SmallVector<Value>{emit.add(carried[0], p)};
    })[0];
    emit.store(sum, {total, element, lane});
  }

  /// Multiplies the weights of a block of keys by the factors of dropout. `number` is that of the head.
  void drop(Value number, Value first, Value key, int64_t count) {
    tiles.eachVector([&](Value lane) {
      eachRow(tiles, dropout, /*lanesAreQueries=*/true, number, first, lane, key, count,
              [&](Value i, Value factors) {
                const Address to = tiles.at(scores, i, lane);
                emit.store(emit.mul(emit.load(to, tiles.lanes()), factors), to);
              });
    });
  }

  void finish(Value b, Value head, Value first, Value valid) {
    tiles.unpack(sums, shape.outRows(emit, out, b, head).from(emit, first), valid, [&](Value lane) {
      Value sum = emit.load({total, element, lane}, AttentionTiles::kSquare);
      Value zero = emit.constant(sum.getType(), 0), one = emit.constant(sum.getType(), 1);
      Value empty = arith::CmpFOp::create(emit.builder, emit.loc, arith::CmpFPredicate::OEQ, sum, zero);
      Value inverse = arith::DivFOp::create(emit.builder, emit.loc, one, sum);
      return arith::SelectOp::create(emit.builder, emit.loc, empty, zero, inverse).getResult();
    });
    Value base = emit.add(emit.mul(emit.add(emit.mul(b, shape.heads), head), shape.queries), first);
    tiles.eachVector([&](Value lane) {
      Value sum = emit.load({total, element, lane}, tiles.lanes());
      Value value = emit.add(emit.load({largest, element, lane}, tiles.lanes()),
                             math::LogOp::create(emit.builder, emit.loc, sum));
      Mask mask = emit.lanesBelow(emit.sub(valid, lane), tiles.lanes());
      emit.store(value, {lse, element, emit.add(base, lane)}, mask);
    });
  }

  nn::AttentionOp op;
  KernelFunction &function;
  Emitter &emit;
  Type element;
  AttentionShape shape;
  AttentionTiles tiles;
  Visibility visibility;
  std::optional<WeightDropout> dropout;
  Value sinks; ///< pointer or null
  Value q, k, v, out, lse, packedQ, sums, scores, largest, total, decay, heldRows, heldBiases;
};

} // namespace

KernelSummary trainc::codegen::summariseAttention(nn::AttentionOp op) {
  const AttentionShape shape(op);
  const int64_t width = attentionTileWidth(shape.queries, shape.widest());
  return attentionSummary(
      op,
      {.name = "attention",
       .grid = shape.batch * shape.heads * int64_t(llvm::divideCeil(shape.queries, width)),
       .params = {},
       .arithmetic = shape.scoreArithmetic(op.getFlops(), 1, 1, kScoreInstructions, WeightDropout::kShared),
       .sharedBytes =
           AttentionTiles::bufferBytes(shape.element, width,
                                       {shape.depth, shape.valueWidth, AttentionTiles::kBlock, 1, 1, 1}) +
           AttentionTiles::rowBufferBytes(shape.element, shape.widest()) + heldBiasBytes(shape, width)});
}

Symbols trainc::codegen::generateAttention(nn::AttentionOp op, KernelModule &kernels) {
  const KernelSummary summary = summariseAttention(op);
  KernelFunction function(kernels, summary.launches.front());
  ForwardEmitter(op, function).run();
  return {function.finish()};
}
