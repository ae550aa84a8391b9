#include "lib/Codegen/Cpu/TileProducts.h"

using namespace mlir;
using namespace trainc::codegen;

namespace {

/// Rows and columns of C that are computed at a time.
constexpr int64_t kSide = 2 * kUnitRows;

/// Number of tiles of C: one or two down and across.
struct Shape {
  int down, across;
};

/// Uses two by two tiles of sums (0 to 3), two tiles of A and two of B.
class TileKernel {
public:
  TileKernel(Emitter &emit, func::FuncOp function, const TileProducts &products, const ProductSizes &sizes)
      : emit(emit), unit(emit), products(products), sizes(sizes), element(emit.builder.getF32Type()),
        a(function.getArgument(0)), b(function.getArgument(1)), c(function.getArgument(2)),
        depth(function.getArgument(5)), stride(function.getArgument(6)), validRows(function.getArgument(7)),
        validColumns(function.getArgument(8)), adds(function.getArgument(9)),
        edge(emit.stackArray(element, kSide * kSide)) {}

  void run() {
    Value end = emit.min(emit.i64(sizes.callColumns), validColumns);
    emit.loop(emit.i64(0), end, kSide, [&](Value column) {
      TileKernel kernel(*this);
      kernel.b = bytes(b, emit.mul(column, sizes.laneStride()));
      kernel.c = emit.pointer(c, element, column);
      kernel.validColumns = emit.sub(validColumns, column);
      kernel.block();
    });
  }

private:
  /// The unit has no masks, so that incomplete blocks are computed in a buffer and copied.
  void block() {
    Value isEdge = emit.less(emit.min(validRows, validColumns), emit.i64(kSide));
    Value addsToEdge = andOp(isEdge, emit.less(emit.i64(0), adds));
    Value to = select(isEdge, edge, c), toStride = select(isEdge, emit.i64(kSide), stride);
    emit.when(addsToEdge, [&] { copyValid(c, stride, edge, emit.i64(kSide)); });
    for (Shape shape : {Shape{1, 1}, Shape{1, 2}, Shape{2, 1}, Shape{2, 2}})
      emit.when(andOp(has(shape.down, validRows), has(shape.across, validColumns)),
                [&] { sum(shape, to, emit.mul(toStride, 4)); });
    emit.when(isEdge, [&] { copyValid(edge, emit.i64(kSide), c, stride); });
  }

  /// Whether `valid` lanes need exactly `tiles` of the two tiles.
  Value has(int tiles, Value valid) {
    return tiles == 2 ? emit.less(emit.i64(kUnitRows), valid) : emit.less(valid, emit.i64(kUnitRows + 1));
  }

  Value andOp(Value x, Value y) { return arith::AndIOp::create(emit.builder, emit.loc, x, y); }

  Value select(Value condition, Value ifTrue, Value ifFalse) {
    return arith::SelectOp::create(emit.builder, emit.loc, condition, ifTrue, ifFalse);
  }

  Value bytes(Value base, Value count) { return emit.pointer(base, emit.builder.getI8Type(), count); }

  /// Stores the product to `to`, or adds it; rows are `rowBytes` apart.
  void sum(Shape shape, Value to, Value rowBytes) {
    auto forSums = [&](llvm::function_ref<void(int64_t, Value)> body) {
      for (int row = 0; row < shape.down; ++row)
        for (int column = 0; column < shape.across; ++column)
          body(2 * row + column,
               bytes(to, emit.add(emit.mul(rowBytes, row * kUnitRows), column * kUnitRows * 4)));
    };
    emit.when(emit.less(emit.i64(0), adds),
              [&] { forSums([&](int64_t tile, Value at) { unit.load(tile, at, rowBytes); }); });
    emit.when(emit.less(adds, emit.i64(1)), [&] { forSums([&](int64_t tile, Value) { unit.zero(tile); }); });
    Value steps = emit.divide(emit.add(depth, kStepTerms - 1), kStepTerms);
    emit.loop(emit.i64(0), steps, 1, [&](Value step) {
      Value offset = emit.mul(step, products.stepBytes);
      addStep(shape, bytes(a, offset), bytes(b, offset));
    });
    forSums([&](int64_t tile, Value at) { unit.store(tile, at, rowBytes); });
  }

  /// A register is loaded with the next piece right after its last use, while the other half multiplies.
  void addStep(Shape shape, Value fromA, Value fromB) {
    auto loadA = [&](int piece, int half) { load(half < shape.down, kTilesA, fromA, piece, half); };
    auto loadB = [&](int piece, int half) { load(half < shape.across, kTilesB, fromB, piece, half); };
    const auto &pieces = products.pieces;
    for (int half = 0; half < 2; ++half) {
      loadA(pieces[0].first, half);
      loadB(pieces[0].second, half);
    }
    for (size_t i = 0; i < pieces.size(); ++i) {
      const auto [nextA, nextB] = pieces[std::min(i + 1, pieces.size() - 1)];
      for (int half = 0; half < 2; ++half)
        if (nextB != pieces[i].second) {
          multiply(shape, 0, half);
          multiply(shape, 1, half);
          loadB(nextB, half);
        } else {
          multiply(shape, half, 0);
          multiply(shape, half, 1);
          if (nextA != pieces[i].first)
            loadA(nextA, half);
        }
    }
  }

  void multiply(Shape shape, int row, int column) {
    if (row < shape.down && column < shape.across)
      unit.multiplyAdd(2 * row + column, kTilesA + row, kTilesB + column);
  }

  void load(bool isUsed, int64_t tiles, Value from, int64_t piece, int64_t half) {
    if (isUsed)
      unit.load(tiles + half, bytes(from, emit.i64(piece * products.pieceBytes + half * products.halfBytes)),
                emit.i64(kTileBytes / kUnitRows));
  }

  void copyValid(Value from, Value fromStride, Value to, Value toStride) {
    emit.loop(emit.i64(0), emit.min(validRows, emit.i64(kSide)), 1, [&](Value row) {
      for (int64_t column = 0; column < kSide; column += kUnitRows) {
        Mask mask = emit.lanesBelow(emit.sub(validColumns, emit.i64(column)), kUnitRows);
        Value lanes =
            emit.load({from, element, emit.add(emit.mul(row, fromStride), column)}, kUnitRows, mask);
        emit.store(lanes, {to, element, emit.add(emit.mul(row, toStride), column)}, mask);
      }
    });
  }

  static constexpr int64_t kTilesA = 4, kTilesB = 6;

  Emitter &emit;
  MatrixUnit unit;
  const TileProducts &products;
  const ProductSizes &sizes;
  Type element;
  Value a, b, c, depth, stride, validRows, validColumns, adds;
  Value edge; // buffer for an incomplete block of sums
};

} // namespace

void trainc::codegen::multiplyTiles(Emitter &emit, func::FuncOp function, const TileProducts &products,
                                    const ProductSizes &sizes) {
  TileKernel(emit, function, products, sizes).run();
}
