// Packing of f32 lanes into panels of bf16 pieces.
#include "lib/Codegen/Cpu/SplitProducts.h"

#include "lib/Codegen/Cpu/MatrixUnit.h"

using namespace mlir;
using namespace trainc::codegen;
using namespace trainc::codegen::split;

namespace {

/// Packs blocks of 16 lanes and one step of terms.
struct SplitPacking {
  Emitter &emit;
  Side side;
  LaneOrder order;
  int64_t panelStride;
  Value to, from, stride, valid, depth;

  void run();

private:
  enum class Inside { Whole, Edge };

  void block(Value lane, Value term);
  void packBlock(Value tile, Value lane, Value term, Inside inside);
  SmallVector<Value> square(Value lane, Value term, Inside inside);
  Value alongTerms(Value lane, Value term, int64_t i, Inside inside);
  Value alongLanes(Value lane, Value term, int64_t i, Inside inside);
  void prefetchLater(Value row, Value column);
  void storePieces(Value first, Value second, Value tile, int64_t row);

  Value bits(Value real) { return arith::BitcastOp::create(emit.builder, emit.loc, integers(), real); }
  Value real(Value bits) { return arith::BitcastOp::create(emit.builder, emit.loc, reals(), bits); }
  VectorType reals() { return VectorType::get({kUnitRows}, emit.builder.getF32Type()); }
  VectorType integers() { return VectorType::get({kUnitRows}, emit.builder.getI32Type()); }
  Value integer(int64_t value) { return emit.constant(integers(), double(value)); }
};

} // namespace

/// Walks along the rows of the matrix, as it lies in memory.
void SplitPacking::run() {
  auto lanes = [&](llvm::function_ref<void(Value)> body) { emit.loop(emit.i64(0), valid, kUnitRows, body); };
  auto terms = [&](llvm::function_ref<void(Value)> body) { emit.loop(emit.i64(0), depth, kStepTerms, body); };
  if (order == LaneOrder::Strided)
    lanes([&](Value lane) { terms([&](Value term) { block(lane, term); }); });
  else
    terms([&](Value term) { lanes([&](Value lane) { block(lane, term); }); });
}

void SplitPacking::block(Value lane, Value term) {
  Value panel = emit.mul(emit.divide(lane, kLanes), panelStride);
  Value half = emit.mul(emit.divide(emit.remainder(lane, kLanes), kUnitRows), kTileBytes);
  Value step = emit.mul(emit.divide(term, kStepTerms), kStepBytes);
  Value tile = emit.pointer(to, emit.builder.getI8Type(), emit.add(panel, emit.add(half, step)));
  Value left = emit.min(emit.sub(emit.sub(valid, lane), emit.i64(kUnitRows)),
                        emit.sub(emit.sub(depth, term), emit.i64(kStepTerms)));
  emit.when(emit.less(emit.i64(-1), left), [&] { packBlock(tile, lane, term, Inside::Whole); });
  emit.when(emit.less(left, emit.i64(0)), [&] { packBlock(tile, lane, term, Inside::Edge); });
}

void SplitPacking::packBlock(Value tile, Value lane, Value term, Inside inside) {
  SmallVector<Value> first = square(lane, term, inside),
                     second = square(lane, emit.add(term, kStepTerms / 2), inside);
  for (int64_t row = 0; row < kUnitRows; ++row)
    storePieces(first[row], second[row], tile, row);
}

/// 16 lanes by 16 terms, as the tiles hold them: a vector for each lane (A) or for each term (B).
SmallVector<Value> SplitPacking::square(Value lane, Value term, Inside inside) {
  SmallVector<Value> vectors;
  for (int64_t i = 0; i < kUnitRows; ++i)
    vectors.push_back(order == LaneOrder::Strided ? alongTerms(lane, term, i, inside)
                                                  : alongLanes(lane, term, i, inside));
  const bool asInMemory = (side == Side::A) == (order == LaneOrder::Strided);
  return asInMemory ? vectors : emit.transposed(vectors);
}

/// The block that follows in the outer loop: its rows are too far away for the CPU's own prefetching.
void SplitPacking::prefetchLater(Value row, Value column) {
  emit.prefetch(emit.pointer(from, reals().getElementType(), emit.add(emit.mul(row, stride), column)));
}

/// Terms of lane `lane` + i; zero from the depth on. Lanes past the last repeat it.
Value SplitPacking::alongTerms(Value lane, Value term, int64_t i, Inside inside) {
  Value row = emit.add(lane, i);
  prefetchLater(emit.add(row, kUnitRows), term);
  Mask mask;
  if (inside == Inside::Edge) {
    row = emit.min(row, emit.add(valid, int64_t(-1)));
    mask = emit.lanesBelow(emit.sub(depth, term), kUnitRows);
  }
  return emit.load({from, reals().getElementType(), emit.add(emit.mul(row, stride), term)}, kUnitRows, mask);
}

/// Lanes of term `term` + i; zero from the depth on.
Value SplitPacking::alongLanes(Value lane, Value term, int64_t i, Inside inside) {
  Value row = emit.add(term, i);
  prefetchLater(emit.add(row, kStepTerms), lane);
  Mask mask;
  if (inside == Inside::Edge) {
    Value count = arith::SelectOp::create(emit.builder, emit.loc, emit.less(row, depth),
                                          emit.sub(valid, lane), emit.i64(0));
    mask = emit.lanesBelow(count, kUnitRows);
  }
  return emit.load({from, reals().getElementType(), emit.add(emit.mul(row, stride), lane)}, kUnitRows, mask);
}

/// Rounding to the nearest leaves remainders of half as many bits, so that three pieces hold all 24. A NaN
/// survives in the last piece, which is not rounded.
void SplitPacking::storePieces(Value first, Value second, Value tile, int64_t row) {
  Value half = integer(0x8000), high = integer(int32_t(0xffff0000)), shift = integer(16);
  auto andOp = [&](Value a, Value b) -> Value { return arith::AndIOp::create(emit.builder, emit.loc, a, b); };
  for (int64_t piece = 0; piece < kPieces; ++piece) {
    const bool last = piece == kPieces - 1;
    auto rounded = [&](Value x) { return andOp(last ? bits(x) : emit.add(bits(x), half), high); };
    Value a = rounded(first), b = rounded(second);
    Value word = arith::OrIOp::create(emit.builder, emit.loc,
                                      arith::ShRUIOp::create(emit.builder, emit.loc, a, shift), b);
    emit.store(word,
               {tile, integers().getElementType(), emit.i64((piece * kPieceBytes) / 4 + row * kUnitRows)});
    if (last)
      break;
    first = emit.sub(first, real(a));
    second = emit.sub(second, real(b));
  }
}

func::FuncOp split::packPanels(KernelModule &kernels, Side side, LaneOrder order, int64_t panelStride) {
  std::string name = side == Side::A ? "gemm_split_rows" : "gemm_split_columns";
  name += order == LaneOrder::Adjacent ? "_adjacent" : "_strided";
  return internalFunction(
      kernels, name, argumentTypes(kernels.getContext(), 2, 3), [&](Emitter &emit, func::FuncOp function) {
        auto args = function.getArguments();
        SplitPacking{emit, side, order, panelStride, args[0], args[1], args[2], args[3], args[4]}.run();
      });
}
