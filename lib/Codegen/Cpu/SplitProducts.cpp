// f32 products on the matrix unit, as products of bf16 pieces: high, middle and low.
//
// The layout of a panel is [step of 32 terms][piece][half of the panel's 32 lanes], each a tile of the matrix
// unit. A word of a tile pairs the bf16 pieces of terms i and i + 16 of its step.
#include "lib/Codegen/Cpu/TilePacking.h"
#include "lib/Codegen/Cpu/TileProducts.h"

using namespace mlir;
using namespace trainc::codegen;

namespace {

constexpr int64_t kPieces = 3, kPanelLanes = 32;
constexpr int64_t kPieceBytes = 2 * kTileBytes, kStepBytes = kPieces * kPieceBytes;

class SplitPacking : public TilePacking {
public:
  SplitPacking(Emitter &emit, func::FuncOp function, Side side, LaneOrder order, int64_t panelStride)
      : TilePacking(emit, function, emit.builder.getF32Type(), side, order), panelStride(panelStride) {}

private:
  Value offset(Value lane, Value term) override;
  void packBlock(Value tile, Value lane, Value term, Inside inside) override;
  Value words(Value lane, Value term, int64_t i, Inside inside) override;
  void storePieces(Value first, Value second, Value tile, int64_t row);

  Value bits(Value real) { return arith::BitcastOp::create(emit.builder, emit.loc, integers(), real); }
  Value real(Value bits) { return arith::BitcastOp::create(emit.builder, emit.loc, reals(), bits); }
  VectorType reals() { return VectorType::get({kUnitRows}, emit.builder.getF32Type()); }
  Value integer(int64_t value) { return emit.constant(integers(), double(value)); }

  const int64_t panelStride;
};

} // namespace

Value SplitPacking::offset(Value lane, Value term) {
  Value panel = emit.mul(emit.divide(lane, kPanelLanes), panelStride);
  Value half = emit.mul(emit.divide(emit.remainder(lane, kPanelLanes), kUnitRows), kTileBytes);
  Value step = emit.mul(emit.divide(term, kStepTerms), kStepBytes);
  return emit.add(panel, emit.add(half, step));
}

void SplitPacking::packBlock(Value tile, Value lane, Value term, Inside inside) {
  SmallVector<Value> first = square(lane, term, inside),
                     second = square(lane, emit.add(term, kStepTerms / 2), inside);
  for (int64_t row = 0; row < kUnitRows; ++row)
    storePieces(first[row], second[row], tile, row);
}

Value SplitPacking::words(Value lane, Value term, int64_t i, Inside inside) {
  return order == LaneOrder::Strided ? loadTerms(lane, i, term, kUnitRows, inside)
                                     : loadLanes(lane, term, i, inside);
}

/// Rounding to nearest leaves remainders with half as many bits, so that three pieces represent all 24. NaN
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

static func::FuncOp packPieces(KernelModule &kernels, Side side, LaneOrder order, int64_t panelStride) {
  std::string name = side == Side::A ? "gemm_split_rows" : "gemm_split_columns";
  name += order == LaneOrder::Adjacent ? "_adjacent" : "_strided";
  return internalFunction(kernels, name, argumentTypes(kernels.getContext(), 2, 3),
                          [&](Emitter &emit, func::FuncOp function) {
                            SplitPacking(emit, function, side, order, panelStride).run();
                          });
}

/// The six products of pieces above 2^-24 of the whole, in an order in which consecutive products differ on
/// one side only.
static TileProducts pieceProducts() {
  return {.pieces = {{0, 2}, {0, 1}, {1, 1}, {1, 0}, {2, 0}, {0, 0}},
          .pieceBytes = kPieceBytes,
          .halfBytes = kTileBytes,
          .stepBytes = kStepBytes};
}

ProductSizes trainc::codegen::splitSizes() {
  return {.panelRows = kPanelLanes,
          .panelColumns = kPanelLanes,
          .callRows = kPanelLanes,
          .callColumns = kPanelLanes,
          .depthBlock = 256,
          .tileRows = 384,
          .tileColumns = 512,
          .packedBytes = 2 * kPieces};
}

ProductScheme trainc::codegen::splitProducts(KernelModule &kernels, LaneOrder a, LaneOrder b) {
  ProductScheme scheme{splitSizes()};
  scheme.packA = packPieces(kernels, Side::A, a, scheme.panelStride(kPanelLanes));
  scheme.packB = packPieces(kernels, Side::B, b, scheme.panelStride(kPanelLanes));
  scheme.multiply = internalFunction(
      kernels, "gemm_split_micro_kernel", argumentTypes(kernels.getContext(), 5, 7),
      [&](Emitter &emit, func::FuncOp function) { multiplyTiles(emit, function, pieceProducts(), scheme); });
  scheme.begin = internalFunction(kernels, "gemm_configure_unit", {},
                                  [](Emitter &emit, func::FuncOp) { MatrixUnit(emit).configure(); });
  scheme.end = internalFunction(kernels, "gemm_release_unit", {},
                                [](Emitter &emit, func::FuncOp) { MatrixUnit(emit).release(); });
  return scheme;
}
