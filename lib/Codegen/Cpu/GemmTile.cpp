#include "lib/Codegen/Cpu/GemmTile.h"
#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

// --- Sizes ---

Product::Product(GemmOpInterface op)
    : shape(op.getGemmShape()), factor(getElementTypeOrSelf(op->getOperand(0))),
      result(getElementTypeOrSelf(op->getResult(0))) {}

bool Product::roundsResult() const { return nn::wideElement(result) != result; }

TileGrid::TileGrid(const GemmShape &gemm, const ProductSizes &sizes) : gemm(gemm), sizes(sizes) {
  constexpr int64_t kMinTiles = 4;
  int64_t down = std::max<int64_t>(1, llvm::divideCeil(gemm.m, sizes.tileRows));
  int64_t across = std::max<int64_t>(1, llvm::divideCeil(gemm.n, sizes.tileColumns));
  divide(down, across);
  while (gemm.batch * down * across < kMinTiles && std::max(rows, columns) > 2 * sizes.panelColumns) {
    (rows >= columns ? down : across) *= 2;
    divide(down, across);
  }
  tilesDown = llvm::divideCeil(gemm.m, rows);
  tilesAcross = llvm::divideCeil(gemm.n, columns);
}

void TileGrid::divide(int64_t down, int64_t across) {
  rows = llvm::alignTo(llvm::divideCeil(gemm.m, down), sizes.panelRows);
  columns = llvm::alignTo(llvm::divideCeil(gemm.n, across), sizes.panelColumns);
}

/// Returns the bytes of the panels for `lanes` lanes, `width` each.
static int64_t panelBytes(const ProductSizes &sizes, int64_t lanes, int64_t width) {
  return lanes / width * sizes.panelStride(width);
}

TileMemory::TileMemory(const Product &product, const ProductSizes &sizes, const TileGrid &grid)
    : bytesA(panelBytes(sizes, grid.rows, sizes.panelRows)),
      bytesB(panelBytes(sizes, grid.columns, sizes.panelColumns)) {
  const bool oneBlock = product.shape.k <= sizes.depthBlock && !product.shape.sumsBatch();
  sumRows = oneBlock ? std::min(sizes.callRows, grid.rows) : grid.rows;
  sums = product.roundsResult() ? sumRows * grid.columns : 0;
}

// --- Sums that are rounded ---

namespace {

/// Returns a function (c, sums: pointers; row stride of c, of the sums, rows, columns: i64) that applies
/// `body` to each row of C and its sums.
func::FuncOp rowsFunction(KernelModule &kernels, StringRef name, Type low,
                          llvm::function_ref<void(Emitter &, Address low, Address sum, Mask)> body) {
  return internalFunction(kernels, typedName(name, low), argumentTypes(kernels.getContext(), 2, 4),
                          [&](Emitter &emit, func::FuncOp function) {
                            auto args = function.getArguments();
                            Type real = emit.builder.getF32Type();
                            Value columns = args[5],
                                  whole = emit.mul(emit.divide(columns, kSumLanes), kSumLanes);
                            emit.loop(emit.i64(0), args[4], 1, [&](Value row) {
                              Value c = emit.pointer(args[0], low, emit.mul(row, args[2]));
                              Value sums = emit.pointer(args[1], real, emit.mul(row, args[3]));
                              emit.loop(emit.i64(0), whole, kSumLanes, [&](Value column) {
                                body(emit, {c, low, column}, {sums, real, column}, Mask());
                              });
                              emit.when(emit.less(whole, columns), [&] {
                                body(emit, {c, low, whole}, {sums, real, whole},
                                     emit.lanesBelow(emit.sub(columns, whole), kSumLanes));
                              });
                            });
                          });
}

} // namespace

func::FuncOp trainc::codegen::roundRows(KernelModule &kernels, Type low) {
  return rowsFunction(kernels, "gemm_round", low, [](Emitter &emit, Address to, Address sum, Mask mask) {
    emit.store(emit.load(sum, kSumLanes), to, mask);
  });
}

func::FuncOp trainc::codegen::widenRows(KernelModule &kernels, Type low) {
  return rowsFunction(kernels, "gemm_widen", low, [](Emitter &emit, Address from, Address sum, Mask mask) {
    emit.store(emit.load(from, kSumLanes, mask), sum);
  });
}

// --- Code ---

void GemmTile::compute(Value index) {
  Value matrix = emit.divide(index, grid.tiles()), place = emit.remainder(index, grid.tiles());
  Value row = emit.mul(emit.remainder(place, grid.tilesDown), grid.rows);
  Value column = emit.mul(emit.divide(place, grid.tilesDown), grid.columns);
  if (!gemm.sumsBatch())
    return tile(matrix, row, column, emit.i64(gemm.accumulate));
  emit.loop(emit.i64(0), emit.i64(gemm.batch), 1, [&](Value summed) {
    Value earlier = gemm.accumulate ? emit.i64(1) : emit.min(summed, emit.i64(1));
    tile(summed, row, column, earlier);
  });
}

/// `adds` is 1 if the first block of terms adds to C.
void GemmTile::tile(Value matrix, Value row, Value column, Value adds) {
  Value rows = emit.min(emit.i64(grid.rows), emit.sub(emit.i64(gemm.m), row));
  Value columns = emit.min(emit.i64(grid.columns), emit.sub(emit.i64(gemm.n), column));
  Value baseA = emit.mul(matrix, gemm.strideA), baseB = emit.mul(matrix, gemm.strideB);
  Value baseC = emit.add(emit.mul(matrix, gemm.strideC), emit.add(emit.mul(row, gemm.ldc), column));
  emit.loop(emit.i64(0), emit.i64(gemm.k), scheme.depthBlock, [&](Value first) {
    Value depth = emit.min(emit.i64(scheme.depthBlock), emit.sub(emit.i64(gemm.k), first));
    Value fromA = pointerTo(at.a, baseA, row, first, gemm.lda, !gemm.transposeA);
    Value fromB = pointerTo(at.b, baseB, column, first, gemm.ldb, gemm.transposeB);
    call(scheme.packA, {at.panelsA, fromA, emit.i64(gemm.lda), rows, depth});
    call(scheme.packB, {at.panelsB, fromB, emit.i64(gemm.ldb), columns, depth});
    multiplyPanels(baseC, rows, columns, block(matrix, first, depth, adds));
  });
}

GemmTile::Block GemmTile::block(Value matrix, Value first, Value depth, Value adds) {
  Block block{depth, emit.max(adds, emit.min(first, emit.i64(1)))};
  if (!product.roundsResult())
    return block;
  Value matrices = gemm.sumsBatch() ? matrix : emit.i64(0);
  block.opens = emit.less(emit.add(matrices, first), emit.i64(1));
  Value term = emit.add(emit.mul(matrices, gemm.k), emit.add(first, depth));
  block.closes = emit.less(emit.i64(gemm.k * (gemm.sumsBatch() ? gemm.batch : 1) - 1), term);
  return block;
}

/// A panel of A stays in the L1 cache while it is multiplied by all panels of B.
void GemmTile::multiplyPanels(Value baseC, Value rows, Value columns, const Block &block) {
  emit.loop(emit.i64(0), rows, scheme.callRows, [&](Value i) {
    if (product.roundsResult())
      return multiplyRounded(i, baseC, rows, columns, block);
    emit.loop(emit.i64(0), columns, scheme.callColumns, [&](Value j) {
      Value to = emit.pointer(at.c, product.result, emit.add(baseC, emit.add(emit.mul(i, gemm.ldc), j)));
      multiply(i, j, to, gemm.ldc, rows, columns, block);
    });
  });
}

/// Sums are in the block's memory, and still in the L1 cache when they are rounded.
void GemmTile::multiplyRounded(Value i, Value baseC, Value rows, Value columns, const Block &block) {
  Type real = emit.builder.getF32Type();
  Value to = emit.pointer(at.c, product.result, emit.add(baseC, emit.mul(i, gemm.ldc)));
  Value sums =
      memory.sumRows <= scheme.callRows ? at.sums : emit.pointer(at.sums, real, emit.mul(i, grid.columns));
  Value height = emit.min(emit.i64(scheme.callRows), emit.sub(rows, i));
  const SmallVector<Value> strip = {to, sums, emit.i64(gemm.ldc), emit.i64(grid.columns), height, columns};
  if (gemm.accumulate)
    emit.when(block.opens, [&] { call(widenRows(kernels, product.result), strip); });
  emit.loop(emit.i64(0), columns, scheme.callColumns, [&](Value j) {
    multiply(i, j, emit.pointer(sums, real, j), grid.columns, rows, columns, block);
  });
  emit.when(block.closes, [&] { call(roundRows(kernels, product.result), strip); });
}

void GemmTile::multiply(Value i, Value j, Value to, int64_t stride, Value rows, Value columns,
                        const Block &block) {
  call(scheme.multiply,
       {panelAt(at.panelsA, i, scheme.panelRows), panelAt(at.panelsB, j, scheme.panelColumns), to,
        block.depth, emit.i64(stride), emit.sub(rows, i), emit.sub(columns, j), block.adds});
}

/// Returns the pointer to the element of lane `lane` and term `term`. `lanesAreRows` refers to the matrix as
/// stored.
Value GemmTile::pointerTo(Value base, Value offset, Value lane, Value term, int64_t stride,
                          bool lanesAreRows) {
  Value row = lanesAreRows ? lane : term, column = lanesAreRows ? term : lane;
  return emit.pointer(base, product.factor, emit.add(offset, emit.add(emit.mul(row, stride), column)));
}

Value GemmTile::panelAt(Value panels, Value lane, int64_t width) {
  Value offset = emit.mul(emit.divide(lane, width), scheme.panelStride(width));
  return emit.pointer(panels, emit.builder.getI8Type(), offset);
}

void GemmTile::call(func::FuncOp callee, ArrayRef<Value> args) {
  func::CallOp::create(emit.builder, emit.loc, callee, args);
}
