#include "lib/Codegen/Cpu/TilePacking.h"

using namespace mlir;
using namespace trainc::codegen;

VectorType TilePacking::integers() const { return VectorType::get({kUnitRows}, emit.builder.getI32Type()); }

/// Follows the rows of the matrix as stored.
void TilePacking::run() {
  auto lanes = [&](llvm::function_ref<void(Value)> body) { emit.loop(emit.i64(0), valid, kUnitRows, body); };
  auto terms = [&](llvm::function_ref<void(Value)> body) { emit.loop(emit.i64(0), depth, kStepTerms, body); };
  if (order == LaneOrder::Strided)
    lanes([&](Value lane) { terms([&](Value term) { block(lane, term); }); });
  else
    terms([&](Value term) { lanes([&](Value lane) { block(lane, term); }); });
}

void TilePacking::block(Value lane, Value term) {
  Value tile = emit.pointer(to, emit.builder.getI8Type(), offset(lane, term));
  Value left = emit.min(emit.sub(emit.sub(valid, lane), emit.i64(kUnitRows)),
                        emit.sub(emit.sub(depth, term), emit.i64(kStepTerms)));
  emit.when(emit.less(emit.i64(-1), left), [&] { packBlock(tile, lane, term, Inside::Whole); });
  emit.when(emit.less(left, emit.i64(0)), [&] { packBlock(tile, lane, term, Inside::Edge); });
}

SmallVector<Value> TilePacking::square(Value lane, Value term, Inside inside) {
  SmallVector<Value> vectors;
  for (int64_t i = 0; i < kUnitRows; ++i)
    vectors.push_back(words(lane, term, i, inside));
  const bool asInMemory = (side == Side::A) == (order == LaneOrder::Strided);
  return asInMemory ? vectors : emit.transposed(vectors);
}

/// Prefetches the next block of the outer loop, whose rows are too far away for hardware prefetching.
void TilePacking::prefetchLater(Value row, Value column) {
  emit.prefetch(emit.pointer(from, element, emit.add(emit.mul(row, stride), column)));
}

Value TilePacking::loadTerms(Value lane, int64_t i, Value term, int64_t count, Inside inside) {
  Value row = emit.add(lane, i);
  prefetchLater(emit.add(row, kUnitRows), term);
  Mask mask;
  if (inside == Inside::Edge) {
    row = emit.min(row, emit.add(valid, int64_t(-1)));
    mask = emit.lanesBelow(emit.sub(depth, term), count);
  }
  return emit.load({from, element, emit.add(emit.mul(row, stride), term)}, count, mask);
}

Value TilePacking::loadLanes(Value lane, Value term, int64_t i, Inside inside) {
  Value row = emit.add(term, i);
  prefetchLater(emit.add(row, kStepTerms), lane);
  Mask mask;
  if (inside == Inside::Edge) {
    Value count = arith::SelectOp::create(emit.builder, emit.loc, emit.less(row, depth),
                                          emit.sub(valid, lane), emit.i64(0));
    mask = emit.lanesBelow(count, kUnitRows);
  }
  return emit.load({from, element, emit.add(emit.mul(row, stride), lane)}, kUnitRows, mask);
}
