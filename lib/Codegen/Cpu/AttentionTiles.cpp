// Packing, products and masks of attention.
#include "lib/Codegen/Cpu/AttentionTiles.h"
#include "dialects/NN/Builders.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/bit.h"

#include <limits>

using namespace mlir;
using namespace trainc::codegen;

/// Maximum positions of a tile, maximum elements of one packed matrix, and maximum lanes of a vector. A tile
/// has up to four packed matrices, which must stay in cache.
static constexpr int64_t kWidth = 32, kPackedElements = 8192, kLanes = 16;

int64_t trainc::codegen::attentionTileWidth(int64_t positions, int64_t widest) {
  int64_t fits = llvm::bit_floor<uint64_t>(std::max<int64_t>(kPackedElements / widest, 1));
  int64_t useful = llvm::bit_ceil<uint64_t>(positions);
  return std::max(AttentionTiles::kSquare, std::min({kWidth, fits, useful}));
}

AttentionTiles::AttentionTiles(KernelFunction &function, Type element, int64_t positions, int64_t widest)
    : emit(function.emit()), element(nn::wideElement(element)), function(function),
      tileWidth(attentionTileWidth(positions, widest)), vectorLanes(std::min(kLanes, tileWidth)),
      product(tileProduct(function.module(), this->element, tileWidth)) {}

// --- Buffers ---

Value AttentionTiles::buffer(int64_t rows) {
  return function.blockArray(element, llvm::alignTo(rows, kSquare) * tileWidth);
}

int64_t AttentionTiles::bufferBytes(Type tensorElement, int64_t width, ArrayRef<int64_t> rows) {
  int64_t bytes = 0;
  for (int64_t each : rows)
    bytes += blockArrayBytes(nn::wideElement(tensorElement), llvm::alignTo(each, kSquare) * width);
  return bytes;
}

Value AttentionTiles::rowBuffer(Type tensorElement, int64_t width) {
  return tensorElement == element ? Value() : function.blockArray(element, kBlock * width);
}

int64_t AttentionTiles::rowBufferBytes(Type tensorElement, int64_t width) {
  Type held = nn::wideElement(tensorElement);
  return tensorElement == held ? 0 : blockArrayBytes(held, kBlock * width);
}

HeadRows AttentionTiles::held(const HeadRows &rows, Value first, int64_t count, Value buffer) {
  if (!buffer)
    return rows;
  emit.loop(emit.i64(0), emit.i64(count), 1, [&](Value row) {
    Value from = rows.from(emit, emit.add(first, row)).offset, to = emit.mul(row, rows.width);
    int64_t done = 0;
    for (int64_t lanes = kLanes; lanes > 0; lanes /= 2) { // fewer lanes for the remaining elements
      const int64_t end = rows.width / lanes * lanes;
      if (end == done)
        continue;
      emit.loop(emit.i64(done), emit.i64(end), lanes, [&](Value column) {
        Value loaded = emit.load({rows.base, rows.element, emit.add(from, column)}, lanes);
        emit.store(loaded, {buffer, element, emit.add(to, column)});
      });
      done = end;
    }
  });
  Value before = emit.sub(emit.i64(0), emit.mul(first, rows.width));
  return {buffer, element, before, rows.width, rows.width};
}

Address AttentionTiles::at(Value buffer, Value row, Value lane) {
  return {buffer, element, emit.add(emit.mul(row, tileWidth), lane)};
}

void AttentionTiles::eachVector(llvm::function_ref<void(Value)> body) {
  emit.loop(emit.i64(0), emit.i64(tileWidth), vectorLanes, body);
}

void AttentionTiles::fill(Value buffer, int64_t rows, double value) {
  Value lanes = emit.constant(Emitter::laneType(element, vectorLanes), value);
  emit.loop(emit.i64(0), emit.i64(rows * tileWidth), vectorLanes,
            [&](Value index) { emit.store(lanes, {buffer, element, index}); });
}

Value AttentionTiles::loadValid(Value base, Type type, Value first, Value lane, Value valid) {
  Mask mask = emit.lanesBelow(emit.sub(valid, lane), vectorLanes);
  return emit.load({base, type, emit.add(first, lane)}, vectorLanes, mask);
}

void AttentionTiles::blocks(const PositionRange &range, int64_t rows,
                            llvm::function_ref<void(Value, int64_t)> body) {
  const int64_t whole = rows / kBlock * kBlock;
  Value begin = emit.mul(emit.divide(range.begin, kBlock), kBlock);
  emit.loop(begin, emit.min(range.end, emit.i64(whole)), kBlock, [&](Value first) { body(first, kBlock); });
  if (rows == whole)
    return;
  Value rest = emit.i64(whole);
  emit.when(emit.less(rest, range.end), [&] { body(rest, rows - whole); });
}

// --- Transposition ---

void AttentionTiles::squares(int64_t columns, llvm::function_ref<void(Value, Mask)> body) {
  const int64_t whole = columns / kSquare * kSquare;
  emit.loop(emit.i64(0), emit.i64(whole), kSquare, [&](Value column) { body(column, Mask()); });
  if (columns != whole)
    body(emit.i64(whole), emit.lanesBelow(emit.i64(columns - whole), kSquare));
}

void AttentionTiles::pack(Value buffer, const HeadRows &rows, Value valid, double scale) {
  Value factor = emit.constant(Emitter::laneType(element, kSquare), scale),
        last = emit.sub(valid, emit.i64(1));
  emit.loop(emit.i64(0), emit.i64(tileWidth), kSquare, [&](Value lane) {
    squares(rows.width, [&](Value column, Mask mask) {
      SmallVector<Value> square;
      for (int64_t i = 0; i < kSquare; ++i) {
        HeadRows row = rows.from(emit, emit.min(emit.add(lane, i), last));
        square.push_back(emit.load({row.base, row.element, emit.add(row.offset, column)}, kSquare, mask));
      }
      for (auto [i, packed] : llvm::enumerate(emit.transposed(square)))
        emit.store(scale == 1 ? packed : emit.mul(packed, factor),
                   at(buffer, emit.add(column, int64_t(i)), lane));
    });
  });
}

void AttentionTiles::unpack(Value buffer, const HeadRows &rows, Value valid,
                            llvm::function_ref<Value(Value)> factor) {
  emit.loop(emit.i64(0), emit.i64(tileWidth), kSquare, [&](Value lane) {
    Value scale = factor(lane);
    squares(rows.width, [&](Value column, Mask mask) {
      SmallVector<Value> square;
      for (int64_t i = 0; i < kSquare; ++i)
        square.push_back(emit.mul(emit.load(at(buffer, emit.add(column, i), lane), kSquare), scale));
      for (auto [i, unpacked] : llvm::enumerate(emit.transposed(square))) {
        Value position = emit.add(lane, int64_t(i));
        emit.when(emit.less(position, valid), [&, value = unpacked] {
          HeadRows row = rows.from(emit, position);
          const Address to{row.base, row.element, emit.add(row.offset, column)};
          // LLVM 22 stores four bytes instead of two if a constant mask of bf16 numbers has a single lane.
          if (mask && rows.width % kSquare == 1)
            emit.store(vector::ExtractOp::create(emit.builder, emit.loc, value, 0), to);
          else
            emit.store(value, to, mask);
        });
      }
    });
  });
}

// --- Products ---

void AttentionTiles::scores(Value out, const HeadRows &rows, int64_t count, Value packed) {
  assert(rows.element == element && "products are of held rows");
  Value from = emit.pointer(rows.base, element, rows.offset);
  func::CallOp::create(emit.builder, emit.loc, product,
                       ValueRange{out, from, packed, packed, emit.i64(count), emit.i64(rows.width),
                                  emit.i64(rows.stride), emit.i64(1), emit.i64(0)});
}

void AttentionTiles::bias(Value scores, Value slope, const Visibility &visibility, bool lanesAreQueries,
                          Value first, Value row, int64_t count) {
  const Type narrow = emit.builder.getI32Type();
  const auto toNumber = [&](Value position, int64_t lanes) -> Value {
    Value integer =
        arith::TruncIOp::create(emit.builder, emit.loc, Emitter::laneType(narrow, lanes), position);
    return arith::SIToFPOp::create(emit.builder, emit.loc, Emitter::laneType(element, lanes), integer);
  };
  Value slopes = emit.splat(slope, vectorLanes), numbers = toNumber(emit.lanesIota(vectorLanes), vectorLanes);
  eachVector([&](Value lane) {
    Value position = emit.add(first, lane); // of the first lane
    emit.loop(emit.i64(0), emit.i64(count), 1, [&](Value i) {
      Value other = emit.add(row, i);
      Value key = lanesAreQueries ? other : position, query = lanesAreQueries ? position : other;
      Value distance =
          emit.splat(toNumber(emit.sub(emit.sub(key, query), visibility.firstQuery(emit)), 0), vectorLanes);
      distance = lanesAreQueries ? emit.sub(distance, numbers) : emit.add(distance, numbers);
      const Address to = at(scores, i, lane);
      emit.store(math::FmaOp::create(emit.builder, emit.loc, distance, slopes, emit.load(to, vectorLanes)),
                 to);
    });
  });
}

void AttentionTiles::cap(Value scores, int64_t count, double cap) {
  emit.loop(emit.i64(0), emit.i64(count * tileWidth), vectorLanes, [&](Value index) {
    const Address at{scores, element, index};
    emit.store(capScore(emit, emit.load(at, vectorLanes), cap), at);
  });
}

void AttentionTiles::accumulate(Value out, const HeadRows &rows, int64_t count, Value weights, Value factor) {
  assert(rows.element == element && "products are of held rows");
  Value from = emit.pointer(rows.base, element, rows.offset);
  func::CallOp::create(emit.builder, emit.loc, product,
                       ValueRange{out, from, weights, factor, emit.i64(rows.width), emit.i64(count),
                                  emit.i64(1), emit.i64(rows.stride), emit.i64(1)});
}

// --- Masks ---

Value AttentionTiles::visible(const Visibility &visibility, bool lanesAreQueries, Value first, Value lane,
                              Value valid, Value row) {
  Value seen;
  auto both = [&](Value condition) {
    seen = seen ? Value(arith::AndIOp::create(emit.builder, emit.loc, seen, condition)) : condition;
  };
  // Lane l is position first + lane + l. The condition key <= query + bound, or key >= query + bound, is
  // compared relative to `first + lane`.
  const auto compare = [&](Value bound, bool isUpper) {
    Value base = emit.add(first, lane);
    Value relative =
        lanesAreQueries ? emit.sub(row, emit.add(base, bound)) : emit.sub(emit.add(row, bound), base);
    relative = emit.max(emit.min(relative, emit.i64(1 << 30)), emit.i64(-(1 << 30)));
    Value narrow = arith::TruncIOp::create(emit.builder, emit.loc, emit.builder.getI32Type(), relative);
    Type lanesType = Emitter::laneType(emit.builder.getI32Type(), vectorLanes);
    Value index = arith::TruncIOp::create(emit.builder, emit.loc, lanesType, emit.lanesIota(vectorLanes));
    auto predicate = lanesAreQueries == isUpper ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle;
    both(arith::CmpIOp::create(emit.builder, emit.loc, predicate, index, emit.splat(narrow, vectorLanes)));
  };
  if (visibility.last || visibility.limit)
    compare(visibility.upperBound(emit), /*isUpper=*/true);
  if (visibility.span)
    compare(visibility.lowerBound(emit), /*isUpper=*/false);
  if (visibility.segments) {
    Value start = emit.add(visibility.segmentBase, first);
    Value own = loadValid(visibility.segments, visibility.segmentType, start, lane, valid);
    Value other =
        emit.load({visibility.segments, visibility.segmentType, emit.add(visibility.segmentBase, row)});
    both(arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::eq, own,
                               emit.splat(other, vectorLanes)));
  }
  return seen;
}

void AttentionTiles::hide(Value scores, const Visibility &visibility, bool lanesAreQueries, Value first,
                          Value valid, Value row, int64_t count) {
  auto hideAll = [&] {
    Value hidden =
        emit.constant(Emitter::laneType(element, vectorLanes), -std::numeric_limits<double>::infinity());
    eachVector([&](Value lane) {
      emit.loop(emit.i64(0), emit.i64(count), 1, [&](Value i) {
        Value seen = visible(visibility, lanesAreQueries, first, lane, valid, emit.add(row, i));
        Value score = emit.load(at(scores, i, lane), vectorLanes);
        emit.store(arith::SelectOp::create(emit.builder, emit.loc, seen, score, hidden), at(scores, i, lane));
      });
    });
  };
  if (visibility.segments || visibility.limit)
    return hideAll();
  if (!visibility.last)
    return;
  // Only blocks on an edge are masked: those whose last key is after the first query's last visible key, or
  // whose first key is before the last query's first visible key.
  Value query = lanesAreQueries ? first : row, key = lanesAreQueries ? row : first;
  const int64_t queries = lanesAreQueries ? tileWidth : count, keys = lanesAreQueries ? count : tileWidth;
  Value isEdge = emit.less(emit.add(query, *visibility.last), emit.add(key, keys - 1));
  if (visibility.span) {
    Value firstKey = emit.add(emit.add(query, queries - 1), visibility.lowerBound(emit));
    isEdge = arith::OrIOp::create(emit.builder, emit.loc, isEdge, emit.less(key, firstKey));
  }
  emit.when(isEdge, hideAll);
}

// --- Biases of distances ---

int64_t trainc::codegen::heldBiasBytes(const AttentionSizes &sizes, int64_t width) {
  return sizes.biasWidth > 0 ? blockArrayBytes(nn::wideElement(sizes.element), heldBiases(width)) : 0;
}

/// The distances in a block range from that of its last row and first lane to that of its first row and last
/// lane. Their biases are copied to `held` in this order, so that the biases of a row are adjacent.
void trainc::codegen::addBias(AttentionTiles &tiles, Value scores, const DistanceBias &bias, Value held,
                              bool lanesAreQueries, Value first, Value row, int64_t count) {
  Emitter &emit = tiles.emit;
  Value lastRow = emit.add(row, count - 1);
  emit.loop(emit.i64(0), emit.i64(tiles.width() + count - 1), 1, [&](Value number) {
    Value lane = emit.add(first, number);
    Value found = emit.load(lanesAreQueries ? bias.at(emit, lane, lastRow) : bias.at(emit, lastRow, lane));
    emit.store(found, {held, tiles.element, number});
  });
  tiles.eachVector([&](Value lane) {
    emit.loop(emit.i64(0), emit.i64(count), 1, [&](Value i) {
      Value from = emit.sub(emit.add(lane, count - 1), i);
      const Address to = tiles.at(scores, i, lane);
      Value biases = emit.load({held, tiles.element, from}, tiles.lanes());
      emit.store(emit.add(emit.load(to, tiles.lanes()), biases), to);
    });
  });
}

void trainc::codegen::addToSums(AttentionTiles &tiles, const DistanceSums &of, Value sums, Value offset,
                                Value dS, Value valid, Value key, int64_t count) {
  Emitter &emit = tiles.emit;
  const int64_t lanes = tiles.lanes();
  Value zero = emit.constant(Emitter::laneType(tiles.element, lanes), 0);
  tiles.eachVector([&](Value lane) {
    Mask exists = emit.lanesBelow(emit.sub(valid, lane), lanes);
    emit.loop(emit.i64(0), emit.i64(count), 1, [&](Value i) {
      Value gradients = emit.load(tiles.at(dS, i, lane), lanes);
      gradients = arith::SelectOp::create(emit.builder, emit.loc, exists, gradients, zero);
      Value number = emit.sub(emit.add(lane, of.keyOffset()), emit.add(key, i));
      const Address to{sums, tiles.element, emit.add(offset, number)};
      emit.store(emit.add(emit.load(to, lanes), gradients), to);
    });
  });
}

// --- Dropout ---

void trainc::codegen::eachRow(AttentionTiles &tiles, const std::optional<WeightDropout> &dropout,
                              bool lanesAreQueries, Value number, Value first, Value lane, Value row,
                              int64_t count, llvm::function_ref<void(Value, Value)> body) {
  Emitter &emit = tiles.emit;
  const int64_t lanes = tiles.lanes();
  if (!dropout)
    return emit.loop(emit.i64(0), emit.i64(count), 1, [&](Value i) { body(i, Value()); });
  Value numbers = emit.splat(number, lanes),
        positions = emit.add(emit.splat(emit.add(first, lane), lanes), emit.lanesIota(lanes));
  if (!lanesAreQueries)
    return emit.loop(emit.i64(0), emit.i64(count), 1, [&](Value i) {
      Value query = emit.splat(emit.add(row, i), lanes);
      body(i, dropout->factors(emit, numbers, query, positions, lanes, tiles.element));
    });
  // Keys can share draws, because the first row of a block is a multiple of kShared.
  constexpr int64_t kShared = WeightDropout::kShared;
  static_assert(AttentionTiles::kBlock % kShared == 0);
  const auto group = [&](Value begin, int64_t keys) {
    Value number = emit.splat(emit.divide(emit.add(row, begin), kShared), lanes);
    const auto words = dropout->draw(emit, numbers, positions, number, lanes);
    for (int64_t key = 0; key < keys; ++key)
      body(emit.add(begin, key), dropout->factor(emit, words[key], lanes, tiles.element));
  };
  const int64_t whole = count / kShared * kShared;
  emit.loop(emit.i64(0), emit.i64(whole), kShared, [&](Value begin) { group(begin, kShared); });
  if (count != whole)
    group(emit.i64(whole), count - whole);
}
