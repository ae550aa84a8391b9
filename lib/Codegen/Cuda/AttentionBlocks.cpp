// Sizes, rows, masks and results of attention blocks.
#include "lib/Codegen/Cuda/AttentionBlocks.h"

#include "dialects/NN/Builders.h"
#include "lib/Codegen/Kernels/Threads.h"
#include "lib/Support/StoredElement.h"
#include "plan/schema/cuda_levels.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;
using namespace trainc::codegen::cuda;

/// Limits of a block's own memory. The first allows several blocks per multiprocessor; the second, for wide
/// heads, is that of compute capability 8.6, the smallest of supported GPUs.
static constexpr int64_t kBlockBytes[] = {kCudaStaticSharedBytes, 99 << 10};
/// Maximum number of a thread's 255 registers for sums and scores.
static constexpr int64_t kMaxHeldRegisters = 160;

// --- Sizes ---

int64_t BlockNeeds::bytes(const BlockSizes &sizes) const {
  int64_t bytes = 0;
  for (int64_t width : own)
    bytes += WarpProducts::arrayBytes(element, sizes.owned(), width);
  for (int64_t width : others)
    bytes += WarpProducts::arrayBytes(element, sizes.others, width);
  if (sharesScores)
    bytes += blockArrayBytes(nn::wideElement(element), sizes.owned() * sizes.others);
  return bytes;
}

/// Minimum rows of the other side that products need.
static int64_t minOthers(Type element) {
  return nn::isLowPrecision(element) ? 2 * kStripColumns : kStripColumns;
}

bool BlockNeeds::holdsAll(const BlockSizes &sizes) const {
  int64_t strips = scores * sizes.others / kStripColumns;
  for (int64_t width : sums)
    strips += WarpProducts::strips(element, width);
  return strips * 4 * elementBytes(nn::wideElement(element)) / 4 <= kMaxHeldRegisters;
}

std::optional<BlockSizes> BlockNeeds::sizes() const {
  const int64_t useful = llvm::bit_ceil<uint64_t>(llvm::divideCeil(positions, kWarpRows));
  for (int64_t maxBytes : kBlockBytes) {
    std::optional<BlockSizes> fits;
    for (int64_t warps = std::min<int64_t>(4, useful); warps > 0; warps /= 2)
      for (int64_t rows = 64; rows >= minOthers(element); rows /= 2) {
        const BlockSizes sizes{warps, rows};
        if (bytes(sizes) > maxBytes)
          continue;
        if (holdsAll(sizes))
          return sizes;
        if (!fits || rows < fits->others)
          fits = sizes;
      }
    if (fits)
      return fits;
  }
  return std::nullopt;
}

/// Multiply-adds of threads read ahead, and ptxas would spill registers to fit a fifth block. Tensor-core
/// products have nothing to spill, so that ptxas chooses well without a limit.
int64_t BlockNeeds::minBlocks() const { return nn::isLowPrecision(element) ? 0 : 2; }

FailureOr<BlockSizes> trainc::codegen::cuda::blockSizes(Operation *op, const BlockNeeds &needs) {
  if (std::optional<BlockSizes> sizes = needs.sizes())
    return *sizes;
  return op->emitOpError("expected heads of which ")
         << kWarpRows << " queries and " << minOthers(needs.element) << " keys take at most "
         << kBlockBytes[1] << " bytes of a block's memory on target cuda, found heads of " << needs.others[0]
         << " and " << needs.others[1] << " elements of " << needs.element << ", which take "
         << needs.bytes({1, minOthers(needs.element)})
         << "; use smaller heads, a shorter type, or target cpu";
}

AttentionBlocks::AttentionBlocks(KernelFunction &function, const BlockNeeds &needs, const BlockSizes &sizes)
    : sizes(sizes), element(nn::wideElement(needs.element)), products(function, needs.element),
      function(function), emit(function.emit()), memory(memoryElement(needs.element)) {
  for (int64_t width : needs.own)
    own.push_back(products.array(sizes.owned(), width));
  for (int64_t width : needs.others)
    others.push_back(products.array(sizes.others, width));
  if (needs.sharesScores)
    shared = function.blockArray(element, sizes.owned() * sizes.others);
}

// --- Rows ---

void AttentionBlocks::hold(const HeldRows &to, const HeadRows &rows, Value first, int64_t positions) {
  const int64_t lanes = std::gcd<int64_t, int64_t>(rows.width, kAccessBytes / elementBytes(memory));
  const int64_t across = to.width / lanes, vectors = to.count * across, threads = function.threads();
  Value none = emit.constant(Emitter::laneType(memory, lanes), 0);
  auto move = [&](Value index) {
    Value row = emit.divide(index, across), column = emit.mul(emit.remainder(index, across), lanes);
    Value position = emit.add(first, row);
    // Positions beyond the end are read from the last valid position.
    Value within = emit.less(position, emit.i64(positions));
    if (to.width != rows.width)
      within = arith::AndIOp::create(emit.builder, emit.loc, within, emit.less(column, emit.i64(rows.width)));
    const HeadRows from = rows.from(emit, emit.min(position, emit.i64(positions - 1)));
    Value offset = emit.add(from.offset, emit.min(column, emit.i64(rows.width - lanes)));
    Value loaded = emit.load({rows.base, memory, offset}, lanes);
    loaded = arith::SelectOp::create(emit.builder, emit.loc, within, loaded, none);
    emit.store(loaded, {to.base, memory, emit.add(emit.mul(row, to.stride), column)});
  };
  emit.loop(emit.i64(0), emit.i64(vectors), threads, [&](Value begin) {
    Value index = emit.add(begin, function.thread());
    if (vectors % threads == 0)
      return move(index);
    emit.when(emit.less(index, emit.i64(vectors)), [&] { move(index); });
  });
}

Parts AttentionBlocks::eachBlock(const PositionRange &range, ValueRange carried,
                                 llvm::function_ref<void(Value)> fetch, Emitter::LoopBody compute) {
  Value begin = emit.mul(emit.divide(range.begin, sizes.others), sizes.others);
  return emit.loop(begin, range.end, sizes.others, carried, [&](Value first, ValueRange before) {
    function.barrier(); // all threads have read the previous rows
    fetch(first);
    function.barrier();
    return compute(first, before);
  });
}

Value AttentionBlocks::firstPosition(Value index, int64_t perHead, bool fromLast) {
  Value number = emit.remainder(index, perHead);
  if (fromLast)
    number = emit.sub(emit.i64(perHead - 1), number);
  return emit.mul(number, sizes.owned());
}

SmallVector<Value, 2> AttentionBlocks::ofRows(Value base, Type type, Value start, Value first,
                                              int64_t positions) {
  SmallVector<Value, 2> numbers;
  for (int64_t half = 0; half < 2; ++half) {
    Value position = emit.min(emit.add(first, products.row(half)), emit.i64(positions - 1));
    numbers.push_back(emit.load({base, type, emit.add(start, position)}));
  }
  return numbers;
}

Parts AttentionBlocks::ofColumns(Value base, Type type, Value start, Value first, int64_t positions) {
  Parts numbers;
  for (int64_t strip = 0; strip < sizes.others; strip += kStripColumns)
    for (int64_t side = 0; side < 2; ++side) {
      Value position =
          emit.min(emit.add(emit.add(first, products.column()), strip + side), emit.i64(positions - 1));
      numbers.push_back(emit.load({base, type, emit.add(start, position)}));
    }
  return numbers;
}

// --- Scores and weights ---

void AttentionBlocks::bias(Parts &scores, Value slope, const Visibility &visibility, bool ownAreQueries,
                           Value ownFirst, Value otherFirst) {
  Value column = emit.add(otherFirst, products.column());
  for (int64_t half = 0; half < 2; ++half) {
    Value row = emit.add(ownFirst, products.row(half));
    Value key = ownAreQueries ? column : row, query = ownAreQueries ? row : column;
    Value distance = emit.sub(emit.sub(key, query), visibility.firstQuery(emit));
    distance = arith::TruncIOp::create(emit.builder, emit.loc, emit.builder.getI32Type(), distance);
    distance = arith::SIToFPOp::create(emit.builder, emit.loc, element, distance);
    for (int64_t strip = 0; strip < sizes.others / kStripColumns; ++strip)
      for (int64_t side = 0; side < 2; ++side) {
        Value &score = scores[strip * 4 + half * 2 + side];
        const auto columns = double(strip * kStripColumns + side);
        Value further = emit.add(distance, emit.constant(element, ownAreQueries ? columns : -columns));
        score = math::FmaOp::create(emit.builder, emit.loc, further, slope, score);
      }
  }
}

std::pair<Value, Value> AttentionBlocks::coordinates(int64_t part, Value ownFirst, Value otherFirst) {
  Value row = emit.add(ownFirst, products.row(part / 2 % 2));
  Value column = emit.add(emit.add(otherFirst, products.column()), part / 4 * kStripColumns + part % 2);
  return {row, column};
}

void AttentionBlocks::addBias(Parts &scores, const DistanceBias &bias, bool ownAreQueries, Value ownFirst,
                              Value otherFirst) {
  for (auto [index, score] : llvm::enumerate(scores)) {
    const auto [row, column] = coordinates(int64_t(index), ownFirst, otherFirst);
    score =
        emit.add(score, emit.load(ownAreQueries ? bias.at(emit, row, column) : bias.at(emit, column, row)));
  }
}

/// Each thread sums pairs of equal distance in the order of queries.
void AttentionBlocks::addToSums(const DistanceSums &of, Value sums, Value offset, const Parts &dS,
                                Value first, Value key) {
  const int64_t last = sizes.others - 1, distances = sizes.owned() + last;
  for (auto [index, gradient] : llvm::enumerate(dS)) {
    const auto [row, column] = coordinates(int64_t(index), emit.i64(0), emit.i64(0));
    emit.store(gradient, {shared, element, emit.add(emit.mul(row, sizes.others), column)});
  }
  function.barrier();
  Value queries = emit.min(emit.i64(sizes.owned()), emit.sub(emit.i64(of.shape.queries), first));
  emit.loop(emit.i64(0), emit.i64(distances), function.threads(), [&](Value begin) {
    // Query i and key i - d, both counted from the block's first ones, with d = number - last.
    Value number = emit.add(begin, function.thread()), d = emit.sub(number, emit.i64(last));
    Value column = emit.add(emit.sub(d, key), of.keyOffset());
    Value exists = arith::AndIOp::create(emit.builder, emit.loc, emit.less(number, emit.i64(distances)),
                                         emit.less(emit.i64(-1), column));
    emit.when(exists, [&] {
      Value sum =
          emit.loop(emit.max(d, emit.i64(0)), emit.min(queries, emit.add(number, 1)), 1,
                    emit.constant(element, 0), [&](Value query, ValueRange carried) {
                      Value pair = emit.add(emit.mul(query, sizes.others), emit.sub(query, d));
                      return SmallVector<Value>{emit.add(carried[0], emit.load({shared, element, pair}))};
                    })[0];
      const Address to{sums, element, emit.add(offset, column)};
      emit.store(emit.add(emit.load(to), sum), to);
    });
  });
}

Parts AttentionBlocks::dropped(const WeightDropout &dropout, bool ownAreQueries, Value number, Value ownFirst,
                               Value otherFirst) {
  Parts factors(sizes.others / kStripColumns * 4);
  Value isUpper; // whether a thread's pairs of keys are the upper halves of those that share a draw
  if (ownAreQueries)
    isUpper = emit.less(emit.i64(1), emit.remainder(products.column(), WeightDropout::kShared));
  for (int64_t strip = 0; strip < sizes.others / kStripColumns; ++strip)
    for (int64_t half = 0; half < 2; ++half) {
      Value row = emit.add(ownFirst, products.row(half));
      Value column = emit.add(emit.add(otherFirst, products.column()), strip * kStripColumns);
      Value *pair = &factors[strip * 4 + half * 2];
      if (!ownAreQueries) {
        for (int64_t side = 0; side < 2; ++side)
          pair[side] = dropout.factors(emit, number, emit.add(column, side), row, /*lanes=*/0, element);
        continue;
      }
      const auto words =
          dropout.draw(emit, number, row, emit.divide(column, WeightDropout::kShared), /*lanes=*/0);
      for (int64_t side = 0; side < 2; ++side) {
        Value word = arith::SelectOp::create(emit.builder, emit.loc, isUpper, words[2 + side], words[side]);
        pair[side] = dropout.factor(emit, word, /*lanes=*/0, element);
      }
    }
  return factors;
}

// --- Masks ---

Value AttentionBlocks::finite(Value number) {
  Value none = emit.constant(element, -std::numeric_limits<double>::infinity());
  Value empty = arith::CmpFOp::create(emit.builder, emit.loc, arith::CmpFPredicate::OEQ, number, none);
  return arith::SelectOp::create(emit.builder, emit.loc, empty, emit.constant(element, 0), number);
}

/// Returns a number of columns as i32.
Value AttentionBlocks::smallNumber(Value number) {
  Value clamped = emit.max(emit.min(number, emit.i64(sizes.others)), emit.i64(0));
  return arith::TruncIOp::create(emit.builder, emit.loc, emit.builder.getI32Type(), clamped);
}

void AttentionBlocks::hide(Parts &scores, const Visibility &visibility, bool ownAreQueries, Value ownFirst,
                           Value otherFirst, const AttentionShape &shape) {
  const int64_t positions = ownAreQueries ? shape.keys : shape.queries;
  Value column = emit.add(otherFirst, products.column());
  Value hidden = emit.constant(element, -std::numeric_limits<double>::infinity());
  for (int64_t half = 0; half < 2; ++half) {
    // Columns in [begin, end) are visible; null means no bound.
    Value begin, end, row = emit.add(ownFirst, products.row(half));
    if (positions % sizes.others != 0)
      end = emit.i64(positions);
    auto endAt = [&](Value bound) {
      Value past = emit.add(emit.add(row, bound), 1);
      end = end ? emit.min(end, past) : past;
    };
    if (ownAreQueries && visibility.last)
      endAt(emit.i64(*visibility.last));
    if (visibility.limit)
      endAt(visibility.limit);
    if (ownAreQueries && visibility.span)
      begin = smallNumber(emit.sub(emit.add(row, visibility.lowerBound(emit)), column));
    if (!ownAreQueries && visibility.last)
      begin = smallNumber(emit.sub(emit.sub(row, emit.i64(*visibility.last)), column));
    if (!ownAreQueries && visibility.span)
      endAt(emit.sub(emit.i64(0), visibility.lowerBound(emit)));
    if (end)
      end = smallNumber(emit.sub(end, column));
    for (int64_t strip = 0; strip < sizes.others / kStripColumns; ++strip)
      for (int64_t side = 0; side < 2; ++side) {
        Value &score = scores[strip * 4 + half * 2 + side];
        Value index = emit.constant(emit.builder.getI32Type(), double(strip * kStripColumns + side));
        if (end)
          score = arith::SelectOp::create(emit.builder, emit.loc, emit.less(index, end), score, hidden);
        if (begin)
          score = arith::SelectOp::create(emit.builder, emit.loc, emit.less(index, begin), hidden, score);
      }
  }
  if (visibility.segments)
    hideBySegments(scores, visibility, ownFirst, otherFirst, positions);
}

/// There are as many queries as keys.
void AttentionBlocks::hideBySegments(Parts &scores, const Visibility &visibility, Value ownFirst,
                                     Value otherFirst, int64_t positions) {
  const SmallVector<Value, 2> rows =
      ofRows(visibility.segments, visibility.segmentType, visibility.segmentBase, ownFirst, positions);
  const Parts columns =
      ofColumns(visibility.segments, visibility.segmentType, visibility.segmentBase, otherFirst, positions);
  Value hidden = emit.constant(element, -std::numeric_limits<double>::infinity());
  for (auto [index, score] : llvm::enumerate(scores)) {
    Value seen = arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::eq, rows[index / 2 % 2],
                                       columns[index / 4 * 2 + index % 2]);
    score = arith::SelectOp::create(emit.builder, emit.loc, seen, score, hidden);
  }
}

// --- Results ---

void AttentionBlocks::store(ValueRange parts, ArrayRef<Value> factors, const HeadRows &rows, Value first,
                            int64_t positions) {
  const int64_t lanes = rows.width % 2 == 0 ? 2 : 1; // per access
  auto storeAt = [&](const HeadRows &row, int64_t strip, int64_t side, Value value) {
    Value column = emit.add(products.column(), strip * kStripColumns + side);
    auto all = [&] { emit.store(value, {row.base, row.element, emit.add(row.offset, column)}); };
    if ((strip + 1) * kStripColumns <= rows.width)
      return all();
    emit.when(emit.less(column, emit.i64(rows.width)), all);
  };
  for (int64_t half = 0; half < 2; ++half) {
    Value position = emit.add(first, products.row(half));
    emit.when(emit.less(position, emit.i64(positions)), [&] {
      const HeadRows row = rows.from(emit, position);
      for (int64_t strip = 0; strip * kStripColumns < rows.width; ++strip) {
        Value pair[2];
        for (int64_t side = 0; side < 2; ++side)
          pair[side] = emit.mul(parts[strip * 4 + half * 2 + side], factors[half]);
        if (lanes == 2) {
          storeAt(row, strip, 0,
                  vector::FromElementsOp::create(emit.builder, emit.loc, Emitter::laneType(element, 2),
                                                 ValueRange(pair)));
          continue;
        }
        storeAt(row, strip, 0, pair[0]);
        storeAt(row, strip, 1, pair[1]);
      }
    });
  }
}
