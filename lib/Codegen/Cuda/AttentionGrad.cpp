// The gradient of attention. With P = softmax(S), S = scale q k^T, O = P v, and D = rowsum(dO O) = rowsum(P
// dP): dv = P^T dO, dP = dO v^T, dS = P (dP - D), dq = scale dS k, dk = scale dS^T q. P is computed again
// from the log-sum-exp. One launch makes D, one dq by blocks of queries, one dk and dv by blocks of keys.
#include "lib/Codegen/Cuda/AttentionBlocks.h"
#include "lib/Codegen/Cuda/Generators.h"
#include "lib/Codegen/Kernels/Threads.h"
#include "lib/Support/StoredElement.h"

#include "dialects/NN/Builders.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;
using namespace trainc::codegen::cuda;

/// Of the first launch, whose warps sum a row each.
static constexpr int64_t kSumThreads = 128, kSumWarps = kSumThreads / kWarp;

/// Of the launch for dq.
static BlockNeeds queryNeeds(nn::AttentionGradOp op) {
  const AttentionShape shape(op);
  return {.element = shape.element,
          .positions = shape.queries,
          .own = {shape.depth, shape.valueWidth},
          .others = {shape.depth, shape.valueWidth},
          .sums = {shape.depth},
          .scores = 2};
}

/// Of the launch for dk and dv.
static BlockNeeds keyNeeds(nn::AttentionGradOp op) {
  BlockNeeds needs = queryNeeds(op);
  needs.positions = AttentionShape(op).keys;
  needs.sums = needs.own;
  return needs;
}

namespace {

/// rowsum(dO O) of every query into scratch 0, [batch, heads, queries].
class RowSumEmitter {
public:
  RowSumEmitter(nn::AttentionGradOp op, KernelFunction &function)
      : op(op), function(function), emit(function.emit()), shape(op),
        element(nn::wideElement(shape.element)) {}

  static int64_t rows(const AttentionShape &shape) { return shape.batch * shape.queries * shape.heads; }

  void run() {
    Value lane = emit.remainder(function.thread(), kWarp);
    function.tiles([&](Value tile) {
      Value row = emit.add(emit.mul(tile, kSumWarps), emit.divide(function.thread(), kWarp));
      emit.when(emit.less(row, emit.i64(rows(shape))), [&] {
        Value sum = reduceOverLanes(emit, nn::ReduceKind::sum, sumOfThread(row, lane), kWarp);
        emit.when(emit.less(lane, emit.i64(1)), [&] { store(row, sum); });
      });
    });
  }

private:
  Value sumOfThread(Value row, Value lane) {
    Value out = function.operand(op.getOutMutable().getOperandNumber());
    Value grad = function.operand(op.getDoutMutable().getOperandNumber());
    const int64_t width = shape.valueWidth, lanes = std::gcd<int64_t, int64_t>(width, 2);
    Value start = emit.mul(row, width);
    return emit.loop(emit.mul(lane, lanes), emit.i64(width), kWarp * lanes, emit.constant(element, 0),
                     [&](Value column, ValueRange carried) {
                       Value at = emit.add(start, column), sum = carried[0];
                       Value a = emit.load({out, shape.element, at}, lanes),
                             b = emit.load({grad, shape.element, at}, lanes);
                       for (int64_t i = 0; i < lanes; ++i) {
                         Value x = vector::ExtractOp::create(emit.builder, emit.loc, a, i),
                               y = vector::ExtractOp::create(emit.builder, emit.loc, b, i);
                         sum = math::FmaOp::create(emit.builder, emit.loc, x, y, sum);
                       }
                       return SmallVector<Value>{sum};
                     })[0];
  }

  void store(Value row, Value sum) {
    Value head = emit.remainder(row, shape.heads), position = emit.divide(row, shape.heads);
    Value sequence = emit.add(emit.mul(emit.divide(position, shape.queries), shape.heads), head);
    Value to = emit.add(emit.mul(sequence, shape.queries), emit.remainder(position, shape.queries));
    emit.store(sum, {function.scratch(0), element, to});
  }

  nn::AttentionGradOp op;
  KernelFunction &function;
  Emitter &emit;
  AttentionShape shape;
  Type element;
};

/// A block of one side: queries, for dq, or keys, for dk and dv.
class GradEmitter {
public:
  GradEmitter(nn::AttentionGradOp op, KernelFunction &function, const BlockNeeds &needs,
              const BlockSizes &sizes)
      : op(op), function(function), emit(function.emit()), shape(op), blocks(function, needs, sizes),
        visibility(op, function), q(function.operand(op.getQMutable().getOperandNumber())),
        k(function.operand(op.getKMutable().getOperandNumber())),
        v(function.operand(op.getVMutable().getOperandNumber())),
        dout(function.operand(op.getDoutMutable().getOperandNumber())),
        lse(function.operand(op.getLseMutable().getOperandNumber())), rowSums(function.scratch(0)) {}

  void queryGradient() { eachBlock(shape.queries, shape.heads, &GradEmitter::queryBlock); }
  void keyGradients() { eachBlock(shape.keys, shape.keyHeads, &GradEmitter::keyBlock); }

private:
  /// block(sequence, head, first position) of a side that has `positions` and `heads`.
  void eachBlock(int64_t positions, int64_t heads, void (GradEmitter::*block)(Value, Value, Value)) {
    const int64_t perHead = llvm::divideCeil(positions, blocks.sizes.owned());
    function.tiles([&](Value index) {
      Value head = emit.divide(index, perHead), b = emit.divide(head, heads);
      visibility.segmentBase = emit.mul(b, shape.queries);
      (this->*block)(b, emit.remainder(head, heads),
                     emit.mul(emit.remainder(index, perHead), blocks.sizes.owned()));
    });
  }

  void queryBlock(Value b, Value head, Value first);
  void keyBlock(Value b, Value keyHead, Value first);

  /// P and dS of a block, in the places of S and dP. `logSumExp` and `rowSum`: of a score.
  struct Gradients {
    Parts p, dS;
  };
  Gradients scoreGradients(bool ownAreQueries, Value own, Value other,
                           llvm::function_ref<Value(size_t)> logSumExp,
                           llvm::function_ref<Value(size_t)> rowSum);

  /// Where the numbers of a head's queries begin.
  Value statistics(Value b, Value head) {
    return emit.mul(emit.add(emit.mul(b, shape.heads), head), shape.queries);
  }
  Parts zeros(int64_t width) { return blocks.products.zeros(WarpProducts::strips(shape.element, width)); }
  Value number(double value) { return emit.constant(blocks.element, value); }
  double scale() { return op.getScale().convertToDouble(); }

  nn::AttentionGradOp op;
  KernelFunction &function;
  Emitter &emit;
  AttentionShape shape;
  AttentionBlocks blocks;
  Visibility visibility;
  Value q, k, v, dout, lse, rowSums;
};

} // namespace

GradEmitter::Gradients GradEmitter::scoreGradients(bool ownAreQueries, Value own, Value other,
                                                   llvm::function_ref<Value(size_t)> logSumExp,
                                                   llvm::function_ref<Value(size_t)> rowSum) {
  Parts p = blocks.products.scores(blocks.own[0], blocks.others[0]);
  for (Value &score : p)
    score = emit.mul(score, number(scale()));
  blocks.hide(p, visibility, ownAreQueries, own, other, shape);
  for (auto [index, score] : llvm::enumerate(p))
    score = math::ExpOp::create(emit.builder, emit.loc, emit.sub(score, logSumExp(index)));
  Parts dS = blocks.products.scores(blocks.own[1], blocks.others[1]);
  for (auto [index, gradient] : llvm::enumerate(dS))
    gradient = emit.mul(p[index], emit.sub(gradient, rowSum(index)));
  return {std::move(p), std::move(dS)};
}

void GradEmitter::queryBlock(Value b, Value head, Value first) {
  Value keyHead = emit.divide(head, shape.group()), start = statistics(b, head);
  const HeadRows keys = shape.keyRows(emit, k, b, keyHead), values = shape.valueRows(emit, v, b, keyHead);
  blocks.hold(blocks.own[0], shape.queryRows(emit, q, b, head), first, shape.queries);
  blocks.hold(blocks.own[1], shape.outRows(emit, dout, b, head), first, shape.queries);
  SmallVector<Value, 2> ownLse = blocks.ofRows(lse, blocks.element, start, first, shape.queries),
                        ownSum = blocks.ofRows(rowSums, blocks.element, start, first, shape.queries);
  for (Value &each : ownLse)
    each = blocks.finite(each);
  Parts sums = blocks.eachBlock(
      emit.i64(0), blocks.lastKey(visibility, first, shape.keys), zeros(shape.depth),
      [&](Value key) {
        blocks.hold(blocks.others[0], keys, key, shape.keys);
        blocks.hold(blocks.others[1], values, key, shape.keys);
      },
      [&](Value key, ValueRange before) {
        const Gradients gradients = scoreGradients(
            /*ownAreQueries=*/true, first, key, [&](size_t index) { return ownLse[index / 2 % 2]; },
            [&](size_t index) { return ownSum[index / 2 % 2]; });
        return blocks.products.accumulate(before, gradients.dS, blocks.others[0]);
      });
  blocks.store(sums, {number(scale()), number(scale())}, shape.queryRows(emit, function.result(0), b, head),
               first, shape.queries);
}

/// The query heads that share the key head add up in order.
void GradEmitter::keyBlock(Value b, Value keyHead, Value first) {
  blocks.hold(blocks.own[0], shape.keyRows(emit, k, b, keyHead), first, shape.keys);
  blocks.hold(blocks.own[1], shape.valueRows(emit, v, b, keyHead), first, shape.keys);
  Value begin = emit.i64(0);
  if (visibility.causal) { // queries before first - shift see none of these keys
    Value earliest = emit.max(emit.sub(first, emit.i64(visibility.shift)), emit.i64(0));
    begin = emit.mul(emit.divide(earliest, blocks.sizes.others), blocks.sizes.others);
  }
  Parts start = zeros(shape.depth);
  const size_t ofKeys = start.size();
  llvm::append_range(start, zeros(shape.valueWidth));
  Parts sums =
      emit.loop(emit.i64(0), emit.i64(shape.group()), 1, start, [&](Value member, ValueRange ofMember) {
        Value head = emit.add(emit.mul(keyHead, shape.group()), member), numbers = statistics(b, head);
        const HeadRows queries = shape.queryRows(emit, q, b, head),
                       grads = shape.outRows(emit, dout, b, head);
        return blocks.eachBlock(
            begin, emit.i64(shape.queries), ofMember,
            [&](Value query) {
              blocks.hold(blocks.others[0], queries, query, shape.queries);
              blocks.hold(blocks.others[1], grads, query, shape.queries);
            },
            [&](Value query, ValueRange before) {
              Parts lses = blocks.ofColumns(lse, blocks.element, numbers, query, shape.queries),
                    rows = blocks.ofColumns(rowSums, blocks.element, numbers, query, shape.queries);
              for (Value &each : lses)
                each = blocks.finite(each);
              const Gradients gradients = scoreGradients(
                  /*ownAreQueries=*/false, first, query,
                  [&](size_t index) { return lses[index / 4 * 2 + index % 2]; },
                  [&](size_t index) { return rows[index / 4 * 2 + index % 2]; });
              Parts after =
                  blocks.products.accumulate(before.take_front(ofKeys), gradients.dS, blocks.others[0]);
              llvm::append_range(after, blocks.products.accumulate(before.drop_front(ofKeys), gradients.p,
                                                                   blocks.others[1]));
              return after;
            });
      });
  blocks.store(ValueRange(sums).take_front(ofKeys), {number(scale()), number(scale())},
               shape.keyRows(emit, function.result(1), b, keyHead), first, shape.keys);
  blocks.store(ValueRange(sums).drop_front(ofKeys), {number(1), number(1)},
               shape.valueRows(emit, function.result(2), b, keyHead), first, shape.keys);
}

// --- The launches ---

/// Those of dq, or of dk and dv.
static LaunchSummary gradientLaunch(nn::AttentionGradOp op, const KernelSummary &kernels, StringRef name,
                                    const BlockNeeds &needs, const BlockSizes &sizes, int64_t heads,
                                    ArrayRef<unsigned> results, int64_t flops) {
  LaunchSummary launch{.name = name.str(),
                       .grid = AttentionShape(op).batch * heads *
                               int64_t(llvm::divideCeil(needs.positions, sizes.owned())),
                       .params = {},
                       .flops = flops,
                       .sharedBytes = needs.bytes(sizes),
                       .threads = sizes.warps * kWarp};
  auto read = [&](OpOperand &operand) {
    launch.params.push_back(operandParam(op, operand.getOperandNumber()));
  };
  for (OpOperand *operand :
       {&op.getQMutable(), &op.getKMutable(), &op.getVMutable(), &op.getDoutMutable(), &op.getLseMutable()})
    read(*operand);
  launch.params.push_back(scratchParam(kernels, 0, plan::Access::read, getElementTypeOrSelf(op.getLse())));
  for (OpOperand &segments : op.getSegmentsMutable())
    read(segments);
  for (unsigned result : results)
    launch.params.push_back(resultParam(op, result));
  return launch;
}

FailureOr<KernelSummary> trainc::codegen::cuda::summariseAttentionGrad(nn::AttentionGradOp op) {
  const AttentionShape shape(op);
  const BlockNeeds ofQueries = queryNeeds(op), ofKeys = keyNeeds(op);
  FailureOr<BlockSizes> querySizes = blockSizes(op, ofQueries), keySizes = blockSizes(op, ofKeys);
  if (failed(querySizes) || failed(keySizes))
    return failure();
  KernelSummary kernels;
  kernels.scratchBytes.push_back(elementCount(op.getLse()) * elementBytes(getElementTypeOrSelf(op.getLse())));
  kernels.launches.push_back(
      {.name = "attention_row_sums",
       .grid = int64_t(llvm::divideCeil(RowSumEmitter::rows(shape), kSumWarps)),
       .params = {operandParam(op, op.getOutMutable().getOperandNumber()),
                  operandParam(op, op.getDoutMutable().getOperandNumber()),
                  scratchParam(kernels, 0, plan::Access::write, getElementTypeOrSelf(op.getLse()))},
       .threads = kSumThreads});
  // Three of the seven products are in the second launch, four in the third; the op counts five.
  const int64_t flops = op.getFlops();
  kernels.launches.push_back(gradientLaunch(op, kernels, "attention_grad_q", ofQueries, *querySizes,
                                            shape.heads, {0}, flops / 5 * 2));
  kernels.launches.push_back(gradientLaunch(op, kernels, "attention_grad_kv", ofKeys, *keySizes,
                                            shape.keyHeads, {1, 2}, flops - flops / 5 * 2));
  return kernels;
}

FailureOr<Symbols> trainc::codegen::cuda::generateAttentionGrad(nn::AttentionGradOp op,
                                                                KernelModule &kernels) {
  FailureOr<KernelSummary> summary = summariseAttentionGrad(op);
  if (failed(summary))
    return failure();
  Symbols symbols;
  KernelFunction sums(kernels, summary->launches[0]);
  RowSumEmitter(op, sums).run();
  symbols.push_back(sums.finish());
  KernelFunction ofQueries(kernels, summary->launches[1]);
  GradEmitter(op, ofQueries, queryNeeds(op), *queryNeeds(op).sizes()).queryGradient();
  symbols.push_back(ofQueries.finish());
  KernelFunction ofKeys(kernels, summary->launches[2]);
  GradEmitter(op, ofKeys, keyNeeds(op), *keyNeeds(op).sizes()).keyGradients();
  symbols.push_back(ofKeys.finish());
  return symbols;
}
