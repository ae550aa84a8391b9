// Gradient of attention. With P = softmax(S), S = scale q k^T, O = P v, and D = rowsum(dO O) - dlse =
// rowsum(P dP) - dlse: dv = P^T dO, dP = dO v^T, dS = P (dP - D), dq = scale dS k, dk = scale dS^T q. With a
// soft cap, dS is multiplied by the slope of the cap. With dropout, dP and the P of dv are multiplied by its
// factors. P is recomputed from the log-sum-exp. One launch computes D, further ones the gradients.
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

/// Size of the first launch's blocks, whose warps sum one row each.
static constexpr int64_t kSumThreads = 128, kSumWarps = kSumThreads / kWarp;
/// Threads of the last launch's blocks, each of which computes the gradient of one bias.
static constexpr int64_t kBiasThreads = 128;

/// A launch that computes some of the gradients.
struct GradientLaunch {
  const char *name;
  SmallVector<unsigned, 2> results;
  BlockNeeds needs;
  int64_t fifths; ///< of the op's flops; the op counts five products, without recomputation

  bool makes(unsigned result) const { return llvm::is_contained(results, result); }
};

/// Returns the launches: dq by blocks of queries; dk and dv by blocks of keys, together if the sums of both
/// fit into a thread's registers.
static SmallVector<GradientLaunch, 3> gradientLaunches(nn::AttentionGradOp op) {
  const AttentionShape shape(op);
  const SmallVector<int64_t, 2> both{shape.depth, shape.valueWidth};
  auto needs = [&](int64_t positions, ArrayRef<int64_t> own, ArrayRef<int64_t> sums) {
    return BlockNeeds{.element = shape.element,
                      .positions = positions,
                      .own = llvm::to_vector<2>(own),
                      .others = both,
                      .sums = llvm::to_vector<2>(sums),
                      .scores = int64_t(own.size()) + (shape.softcap ? 1 : 0) + (shape.dropout ? 1 : 0)};
  };
  GradientLaunch ofQueries{"attention_grad_q", {0}, needs(shape.queries, both, shape.depth), 2};
  ofQueries.needs.sharesScores = shape.biasWidth > 0;
  const GradientLaunch ofKeys{"attention_grad_kv", {1, 2}, needs(shape.keys, both, both), 3};
  if (std::optional<BlockSizes> sizes = ofKeys.needs.sizes(); sizes && ofKeys.needs.holdsAll(*sizes))
    return {ofQueries, ofKeys};
  return {ofQueries,
          {"attention_grad_k", {1}, needs(shape.keys, both, shape.depth), 2},
          {"attention_grad_v", {2}, needs(shape.keys, shape.depth, shape.valueWidth), 1}};
}

namespace {

/// Writes D = rowsum(dO O) - dlse of every query to scratch 0, [batch, heads, queries].
class RowSumEmitter {
public:
  RowSumEmitter(nn::AttentionGradOp op, KernelFunction &function)
      : op(op), function(function), emit(function.emit()), shape(op),
        element(nn::wideElement(shape.element)) {}

  void run() {
    Value lane = emit.remainder(function.thread(), kWarp);
    function.tiles([&](Value tile) {
      Value row = emit.add(emit.mul(tile, kSumWarps), emit.divide(function.thread(), kWarp));
      emit.when(emit.less(row, emit.i64(shape.rows())), [&] {
        Value sum = reduceOverLanes(emit, nn::ReduceKind::sum, sumOfThread(row, lane), kWarp);
        emit.when(emit.less(lane, emit.i64(1)), [&] { storeRowSum(op, function, row, sum); });
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

  nn::AttentionGradOp op;
  KernelFunction &function;
  Emitter &emit;
  AttentionShape shape;
  Type element;
};

/// Generates a block of one side: queries for dq, or keys for dk and dv.
class GradEmitter {
public:
  GradEmitter(nn::AttentionGradOp op, KernelFunction &function, const GradientLaunch &launch)
      : op(op), function(function), emit(function.emit()), launch(launch), shape(op),
        blocks(function, launch.needs, *launch.needs.sizes()), visibility(op, function),
        q(function.operand(op.getQMutable().getOperandNumber())),
        k(function.operand(op.getKMutable().getOperandNumber())),
        v(function.operand(op.getVMutable().getOperandNumber())),
        dout(function.operand(op.getDoutMutable().getOperandNumber())),
        lse(function.operand(op.getLseMutable().getOperandNumber())), rowSums(function.scratch(0)) {
    if (shape.dropout)
      dropout.emplace(op, function);
  }

  void run() {
    launch.makes(0) ? eachBlock(shape.queries, shape.heads, &GradEmitter::queryBlock)
                    : eachBlock(shape.keys, shape.keyHeads, &GradEmitter::keyBlock);
  }

private:
  /// Calls block(sequence, head, first position) for every block of the side with `positions` and `heads`.
  void eachBlock(int64_t positions, int64_t heads, void (GradEmitter::*block)(Value, Value, Value)) {
    const int64_t perHead = llvm::divideCeil(positions, blocks.sizes.owned());
    function.tiles([&](Value index) {
      Value head = emit.divide(index, perHead), b = emit.divide(head, heads);
      visibility.enter(emit, b);
      (this->*block)(b, emit.remainder(head, heads),
                     blocks.firstPosition(index, perHead, /*fromLast=*/launch.makes(0)));
    });
  }

  void queryBlock(Value b, Value head, Value first);
  void keyBlock(Value b, Value keyHead, Value first);
  Parts addQueries(Value b, Value head, Value key, Value query, ValueRange ofKeys, ValueRange ofValues);

  using OfScore = llvm::function_ref<Value(size_t)>;
  /// P of a block, the slope of each score's soft cap, and the factors of dropout, if there are any.
  struct Weights {
    Parts p, slopes, factors;
  };
  /// Returns P of a block of head `head` of sequence `b` from its scores; `logSumExp` gives the value for
  /// each score.
  Weights weights(Value b, Value head, bool ownAreQueries, Value own, Value other, OfScore logSumExp);
  /// Returns dS of a block.
  Parts scoreGradients(const Weights &weights, OfScore rowSum);

  Parts zeros(int64_t width) { return blocks.products.zeros(WarpProducts::strips(shape.element, width)); }
  Value number(double value) { return emit.constant(blocks.element, value); }
  double scale() { return op.getScale().convertToDouble(); }

  nn::AttentionGradOp op;
  KernelFunction &function;
  Emitter &emit;
  const GradientLaunch &launch;
  AttentionShape shape;
  AttentionBlocks blocks;
  Visibility visibility;
  std::optional<WeightDropout> dropout;
  Value q, k, v, dout, lse, rowSums;
};

} // namespace

GradEmitter::Weights GradEmitter::weights(Value b, Value head, bool ownAreQueries, Value own, Value other,
                                          OfScore logSumExp) {
  Parts p = blocks.products.scores(blocks.own[0], blocks.others[0]), slopes, factors;
  for (Value &score : p)
    score = emit.mul(score, number(scale()));
  if (shape.alibi)
    blocks.bias(p, alibiSlope(emit, shape, head, blocks.element), visibility, ownAreQueries, own, other);
  if (shape.biasWidth > 0)
    blocks.addBias(p, DistanceBias(op, function, visibility, head), ownAreQueries, own, other);
  if (shape.softcap)
    for (Value &score : p) {
      score = capScore(emit, score, *shape.softcap);
      slopes.push_back(capSlope(emit, score, *shape.softcap));
    }
  blocks.hide(p, visibility, ownAreQueries, own, other, shape);
  for (auto [index, score] : llvm::enumerate(p))
    score = math::ExpOp::create(emit.builder, emit.loc, emit.sub(score, logSumExp(index)));
  if (dropout)
    factors = blocks.dropped(*dropout, ownAreQueries, dropout->number(emit, shape, b, head), own, other);
  return {p, slopes, factors};
}

Parts GradEmitter::scoreGradients(const Weights &weights, OfScore rowSum) {
  Parts dS = blocks.products.scores(blocks.own[1], blocks.others[1]);
  for (auto [index, gradient] : llvm::enumerate(dS)) {
    if (!weights.factors.empty())
      gradient = emit.mul(gradient, weights.factors[index]);
    gradient = emit.mul(weights.p[index], emit.sub(gradient, rowSum(index)));
    if (!weights.slopes.empty())
      gradient = emit.mul(gradient, weights.slopes[index]);
  }
  return dS;
}

void GradEmitter::queryBlock(Value b, Value head, Value first) {
  Value keyHead = emit.divide(head, shape.group()), start = shape.statistics(emit, b, head);
  const HeadRows keys = shape.keyRows(emit, k, b, keyHead), values = shape.valueRows(emit, v, b, keyHead);
  blocks.hold(blocks.own[0], shape.queryRows(emit, q, b, head), first, shape.queries);
  blocks.hold(blocks.own[1], shape.outRows(emit, dout, b, head), first, shape.queries);
  SmallVector<Value, 2> ownLse = blocks.ofRows(lse, blocks.element, start, first, shape.queries),
                        ownSum = blocks.ofRows(rowSums, blocks.element, start, first, shape.queries);
  for (Value &each : ownLse)
    each = blocks.finite(each);
  const DistanceSums distances(shape, blocks.sizes.owned());
  Value ofDistances;
  if (shape.biasWidth > 0) {
    ofDistances = distances.row(emit, b, head, first);
    emit.loop(function.thread(), emit.i64(distances.stride), function.threads(), [&](Value index) {
      emit.store(number(0), {function.scratch(1), blocks.element, emit.add(ofDistances, index)});
    });
  }
  Parts sums = blocks.eachBlock(
      visibility.keysOf(emit, blocks.ownedFrom(first)), zeros(shape.depth),
      [&](Value key) {
        blocks.hold(blocks.others[0], keys, key, shape.keys);
        blocks.hold(blocks.others[1], values, key, shape.keys);
      },
      [&](Value key, ValueRange before) {
        const Weights p = weights(b, head, /*ownAreQueries=*/true, first, key,
                                  [&](size_t index) { return ownLse[index / 2 % 2]; });
        const Parts dS = scoreGradients(p, [&](size_t index) { return ownSum[index / 2 % 2]; });
        if (shape.biasWidth > 0)
          blocks.addToSums(distances, function.scratch(1), ofDistances, dS, first, key);
        return blocks.products.accumulate(before, dS, blocks.others[0]);
      });
  blocks.store(sums, {number(scale()), number(scale())}, shape.queryRows(emit, function.result(0), b, head),
               first, shape.queries);
}

/// Query heads that share the key head are added in order.
void GradEmitter::keyBlock(Value b, Value keyHead, Value first) {
  blocks.hold(blocks.own[0], shape.keyRows(emit, k, b, keyHead), first, shape.keys);
  if (launch.makes(1))
    blocks.hold(blocks.own[1], shape.valueRows(emit, v, b, keyHead), first, shape.keys);
  const PositionRange visibleTo = visibility.queriesOf(emit, blocks.ownedFrom(first));
  const Parts start = launch.makes(1) ? zeros(shape.depth) : Parts();
  const size_t ofKeys = start.size();
  Parts all = start;
  if (launch.makes(2))
    llvm::append_range(all, zeros(shape.valueWidth));
  Parts sums =
      emit.loop(emit.i64(0), emit.i64(shape.group()), 1, all, [&](Value member, ValueRange ofMember) {
        Value head = emit.add(emit.mul(keyHead, shape.group()), member);
        const HeadRows queries = shape.queryRows(emit, q, b, head),
                       grads = shape.outRows(emit, dout, b, head);
        return blocks.eachBlock(
            visibleTo, ofMember,
            [&](Value query) {
              blocks.hold(blocks.others[0], queries, query, shape.queries);
              blocks.hold(blocks.others[1], grads, query, shape.queries);
            },
            [&](Value query, ValueRange before) {
              return addQueries(b, head, first, query, before.take_front(ofKeys), before.drop_front(ofKeys));
            });
      });
  if (launch.makes(1))
    blocks.store(ValueRange(sums).take_front(ofKeys), {number(scale()), number(scale())},
                 shape.keyRows(emit, function.result(1), b, keyHead), first, shape.keys);
  if (launch.makes(2))
    blocks.store(ValueRange(sums).drop_front(ofKeys), {number(1), number(1)},
                 shape.valueRows(emit, function.result(2), b, keyHead), first, shape.keys);
}

/// Adds the contributions of a block of queries to dk, if it is computed, and then to dv.
Parts GradEmitter::addQueries(Value b, Value head, Value key, Value query, ValueRange ofKeys,
                              ValueRange ofValues) {
  Value start = shape.statistics(emit, b, head);
  Parts logSumExps = blocks.ofColumns(lse, blocks.element, start, query, shape.queries);
  for (Value &each : logSumExps)
    each = blocks.finite(each);
  const Weights p = weights(b, head, /*ownAreQueries=*/false, key, query,
                            [&](size_t index) { return logSumExps[index / 4 * 2 + index % 2]; });
  Parts after;
  if (launch.makes(1)) {
    const Parts rows = blocks.ofColumns(rowSums, blocks.element, start, query, shape.queries);
    const Parts dS = scoreGradients(p, [&](size_t index) { return rows[index / 4 * 2 + index % 2]; });
    after = blocks.products.accumulate(ofKeys, dS, blocks.others[0]);
  }
  if (launch.makes(2)) {
    Parts weightsOfValues = p.p;
    for (auto [weight, factor] : llvm::zip(weightsOfValues, p.factors)) // none without dropout
      weight = emit.mul(weight, factor);
    llvm::append_range(after, blocks.products.accumulate(ofValues, weightsOfValues, blocks.others[1]));
  }
  return after;
}

// --- The launches ---

static FailureOr<LaunchSummary> summariseGradient(nn::AttentionGradOp op, const GradientLaunch &gradient,
                                                  const KernelSummary &kernels) {
  FailureOr<BlockSizes> sizes = blockSizes(op, gradient.needs);
  if (failed(sizes))
    return failure();
  const AttentionShape shape(op);
  const bool ownAreQueries = gradient.makes(0);
  const int64_t heads = ownAreQueries ? shape.heads : shape.keyHeads;
  return LaunchSummary{
      .name = gradient.name,
      .grid = shape.batch * heads * int64_t(llvm::divideCeil(gradient.needs.positions, sizes->owned())),
      .params = gradientParams(op, kernels, gradient.results),
      .flops = op.getFlops() / 5 * gradient.fifths,
      .arithmetic =
          shape.scoreArithmetic(op.getFlops(), 3, 2, kScoreInstructions, ownAreQueries ? kKeysPerDraw : 1),
      .sharedBytes = gradient.needs.bytes(*sizes),
      .threads = sizes->warps * kWarp,
      .minBlocks = gradient.needs.minBlocks()};
}

FailureOr<KernelSummary> trainc::codegen::cuda::summariseAttentionGrad(nn::AttentionGradOp op) {
  KernelSummary kernels;
  kernels.scratchBytes.push_back(rowSumBytes(op));
  kernels.launches.push_back({.name = "attention_row_sums",
                              .grid = int64_t(llvm::divideCeil(AttentionShape(op).rows(), kSumWarps)),
                              .params = rowSumParams(op, kernels),
                              .threads = kSumThreads});
  for (const GradientLaunch &gradient : gradientLaunches(op)) {
    FailureOr<LaunchSummary> launch = summariseGradient(op, gradient, kernels);
    if (failed(launch))
      return failure();
    kernels.launches.push_back(std::move(*launch));
  }
  if (AttentionShape(op).biasWidth > 0)
    summariseBiasGradient(op, kernels, gradientLaunches(op).front().needs.sizes()->owned(), kBiasThreads,
                          kBiasThreads);
  return kernels;
}

/// Each thread stores the gradient of one bias.
static void generateBiasGradient(nn::AttentionGradOp op, KernelFunction &function) {
  Emitter &emit = function.emit();
  const AttentionShape shape(op);
  const DistanceSums distances(shape, gradientLaunches(op).front().needs.sizes()->owned());
  function.tiles([&](Value tile) {
    Value index = emit.add(emit.mul(tile, kBiasThreads), function.thread());
    emit.when(emit.less(index, emit.i64(shape.heads * shape.biasWidth)),
              [&] { distances.storeTotal(op, function, index); });
  });
}

FailureOr<Symbols> trainc::codegen::cuda::generateAttentionGrad(nn::AttentionGradOp op,
                                                                KernelModule &kernels) {
  FailureOr<KernelSummary> summary = summariseAttentionGrad(op);
  if (failed(summary))
    return failure();
  Symbols symbols;
  KernelFunction sums(kernels, summary->launches.front());
  RowSumEmitter(op, sums).run();
  symbols.push_back(sums.finish());
  for (auto [gradient, launch] : llvm::zip(gradientLaunches(op), ArrayRef(summary->launches).drop_front())) {
    KernelFunction function(kernels, launch);
    GradEmitter(op, function, gradient).run();
    symbols.push_back(function.finish());
  }
  if (AttentionShape(op).biasWidth > 0) {
    KernelFunction function(kernels, summary->launches.back());
    generateBiasGradient(op, function);
    symbols.push_back(function.finish());
  }
  return symbols;
}
