// Attention, forward: softmax(scale q k^T) v without a matrix of scores (Milakov and Gimelshein 2018; Dao et
// al. 2022).
#include "lib/Codegen/Cuda/AttentionBlocks.h"
#include "lib/Codegen/Cuda/Generators.h"
#include "lib/Codegen/Kernels/Reductions.h"
#include "lib/Codegen/Kernels/Threads.h"

#include "dialects/NN/Builders.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>
#include <optional>

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;
using namespace trainc::codegen::cuda;

static BlockNeeds needsOf(nn::AttentionOp op) {
  const AttentionShape shape(op);
  return {.element = shape.element,
          .positions = shape.queries,
          .own = {shape.depth},
          .others = {shape.depth, shape.valueWidth},
          .sums = {shape.valueWidth},
          .scores = 1};
}

namespace {

/// Generates a block of queries of one head of one sequence.
class ForwardEmitter {
public:
  ForwardEmitter(nn::AttentionOp op, KernelFunction &function, const BlockSizes &sizes)
      : op(op), function(function), emit(function.emit()), shape(op), blocks(function, needsOf(op), sizes) {}

  void run() {
    visibility = Visibility(op, function);
    if (shape.dropout)
      dropout.emplace(op, function);
    const int64_t perHead = llvm::divideCeil(shape.queries, blocks.sizes.owned());
    function.tiles([&](Value index) {
      Value head = emit.divide(index, perHead);
      block(emit.divide(head, shape.heads), emit.remainder(head, shape.heads),
            blocks.firstPosition(index, perHead, /*fromLast=*/true));
    });
  }

private:
  /// State of a thread's two rows.
  struct Rows {
    SmallVector<Value, 2> largest, total; ///< `total` covers this thread's columns only
    Parts sums;
  };

  /// Returns the state as values that a loop carries.
  static Parts carried(const Rows &rows) {
    Parts values(rows.largest.begin(), rows.largest.end());
    llvm::append_range(values, rows.total);
    llvm::append_range(values, rows.sums);
    return values;
  }
  static Rows rowsOf(ValueRange values) {
    return {llvm::to_vector<2>(values.take_front(2)), llvm::to_vector<2>(values.slice(2, 2)),
            Parts(values.drop_front(4))};
  }

  void block(Value b, Value head, Value first) {
    Value keyHead = emit.divide(head, shape.group());
    const HeadRows keys = shape.keyRows(emit, function.operand(1), b, keyHead),
                   values = shape.valueRows(emit, function.operand(2), b, keyHead);
    visibility.enter(emit, b);
    blocks.hold(blocks.own[0], shape.queryRows(emit, function.operand(0), b, head), first, shape.queries);
    const auto [largest, total] = startOf(head);
    Value number = dropout ? dropout->number(emit, shape, b, head) : Value();
    Value slope = shape.alibi ? alibiSlope(emit, shape, head, blocks.element) : Value();
    std::optional<DistanceBias> bias;
    if (shape.biasWidth > 0)
      bias.emplace(op, function, visibility, head);
    const Rows start{{largest, largest},
                     {total, total},
                     blocks.products.zeros(WarpProducts::strips(shape.element, shape.valueWidth))};
    Parts end = blocks.eachBlock(
        visibility.keysOf(emit, blocks.ownedFrom(first)), carried(start),
        [&](Value key) {
          blocks.hold(blocks.others[0], keys, key, shape.keys);
          blocks.hold(blocks.others[1], values, key, shape.keys);
        },
        [&](Value key, ValueRange before) {
          Parts scores = blocks.products.scores(blocks.own[0], blocks.others[0]);
          Value scale = emit.constant(blocks.element, op.scoreScale());
          for (Value &score : scores)
            score = emit.mul(score, scale);
          if (slope)
            blocks.bias(scores, slope, visibility, /*ownAreQueries=*/true, first, key);
          if (bias)
            blocks.addBias(scores, *bias, /*ownAreQueries=*/true, first, key);
          if (shape.softcap)
            for (Value &score : scores)
              score = capScore(emit, score, *shape.softcap);
          blocks.hide(scores, visibility, /*ownAreQueries=*/true, first, key, shape);
          Rows rows = softmax(rowsOf(before), scores);
          if (dropout)
            for (auto [score, factor] : llvm::zip_equal(
                     scores, blocks.dropped(*dropout, /*ownAreQueries=*/true, number, first, key)))
              score = emit.mul(score, factor);
          rows.sums = blocks.products.accumulate(rows.sums, scores, blocks.others[1]);
          return carried(rows);
        });
    finish(b, head, first, rowsOf(end));
  }

  /// Returns the maximum and this thread's share of the sum before any key: those of the head's sink, or of
  /// no score. The first of the threads that share a row counts the sink.
  std::pair<Value, Value> startOf(Value head) {
    Value zero = emit.constant(blocks.element, 0);
    if (!op.getSinks())
      return {emit.constant(blocks.element, -std::numeric_limits<double>::infinity()), zero};
    Value sinks = function.operand(op.getSinksMutable()[0].getOperandNumber());
    Value isFirst = emit.less(blocks.products.column(), emit.i64(1));
    Value firstSum =
        arith::SelectOp::create(emit.builder, emit.loc, isFirst, emit.constant(blocks.element, 1), zero);
    return {emit.load({sinks, getElementTypeOrSelf(op.getSinks()), head}), firstSum};
  }

  /// Replaces the scores of a block by e^(score - maximum so far), and rescales earlier sums to the new
  /// maximum.
  Rows softmax(Rows rows, Parts &scores) {
    for (int64_t half = 0; half < 2; ++half) {
      auto eachScore = [&](llvm::function_ref<void(Value &)> body) {
        for (size_t index = 0; index < scores.size(); ++index)
          if (int64_t(index / 2 % 2) == half)
            body(scores[index]);
      };
      Value before = rows.largest[half], after = before;
      eachScore([&](Value &score) { after = combine(emit, nn::ReduceKind::max, after, score); });
      after = reduceOverLanes(emit, nn::ReduceKind::max, after, 4);
      Value shift = blocks.finite(after);
      Value shrink = math::ExpOp::create(emit.builder, emit.loc, emit.sub(before, shift));
      Value total = emit.mul(rows.total[half], shrink);
      eachScore([&](Value &score) {
        score = math::ExpOp::create(emit.builder, emit.loc, emit.sub(score, shift));
        total = emit.add(total, score);
      });
      rows.largest[half] = after;
      rows.total[half] = total;
      for (size_t index = 0; index < rows.sums.size(); ++index)
        if (int64_t(index / 2 % 2) == half)
          rows.sums[index] = emit.mul(rows.sums[index], shrink);
    }
    return rows;
  }

  void finish(Value b, Value head, Value first, const Rows &rows) {
    Value zero = emit.constant(blocks.element, 0), one = emit.constant(blocks.element, 1);
    Value start = emit.add(emit.mul(emit.add(emit.mul(b, shape.heads), head), shape.queries), first);
    Value isFirst = emit.less(blocks.products.column(), emit.i64(1));
    SmallVector<Value> inverses;
    for (int64_t half = 0; half < 2; ++half) {
      Value total = reduceOverLanes(emit, nn::ReduceKind::sum, rows.total[half], 4);
      Value empty = arith::CmpFOp::create(emit.builder, emit.loc, arith::CmpFPredicate::OEQ, total, zero);
      Value inverse = arith::DivFOp::create(emit.builder, emit.loc, one, total);
      inverses.push_back(arith::SelectOp::create(emit.builder, emit.loc, empty, zero, inverse));
      Value row = blocks.products.row(half);
      Value isThere = arith::AndIOp::create(emit.builder, emit.loc, isFirst,
                                            emit.less(emit.add(first, row), emit.i64(shape.queries)));
      emit.when(isThere, [&] {
        Value logSumExp = emit.add(rows.largest[half], math::LogOp::create(emit.builder, emit.loc, total));
        emit.store(logSumExp, {function.result(1), blocks.element, emit.add(start, row)});
      });
    }
    blocks.store(rows.sums, inverses, shape.outRows(emit, function.result(0), b, head), first, shape.queries);
  }

  nn::AttentionOp op;
  KernelFunction &function;
  Emitter &emit;
  AttentionShape shape;
  AttentionBlocks blocks;
  Visibility visibility;
  std::optional<WeightDropout> dropout;
};

} // namespace

FailureOr<KernelSummary> trainc::codegen::cuda::summariseAttention(nn::AttentionOp op) {
  const AttentionShape shape(op);
  const BlockNeeds needs = needsOf(op);
  FailureOr<BlockSizes> sizes = blockSizes(op, needs);
  if (failed(sizes))
    return failure();
  return attentionSummary(
      op, {.name = "attention",
           .grid = shape.batch * shape.heads * int64_t(llvm::divideCeil(shape.queries, sizes->owned())),
           .params = {},
           .arithmetic = shape.scoreArithmetic(op.getFlops(), 1, 1, kScoreInstructions, kKeysPerDraw),
           .sharedBytes = needs.bytes(*sizes),
           .threads = sizes->warps * kWarp,
           .minBlocks = needs.minBlocks()});
}

FailureOr<Symbols> trainc::codegen::cuda::generateAttention(nn::AttentionOp op, KernelModule &kernels) {
  FailureOr<KernelSummary> summary = summariseAttention(op);
  if (failed(summary))
    return failure();
  KernelFunction function(kernels, summary->launches.front());
  ForwardEmitter(op, function, *needsOf(op).sizes()).run();
  return Symbols{function.finish()};
}
