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
    : bytesA(sizes.packsA ? panelBytes(sizes, grid.rows, sizes.panelRows) : 0),
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

void GemmTile::compute(Value begin, Value end) {
  Value firstStrip = emit.divide(begin, grid.tilesDown),
        endStrip = emit.divide(emit.add(end, grid.tilesDown - 1), grid.tilesDown);
  emit.loop(firstStrip, endStrip, 1, [&](Value strip) {
    Value firstTile = emit.mul(strip, grid.tilesDown);
    const auto rowOf = [&](Value tile) { return emit.mul(emit.sub(tile, firstTile), grid.rows); };
    Area area{.matrix = emit.divide(strip, grid.tilesAcross),
              .row = rowOf(emit.max(begin, firstTile)),
              .endRow = emit.min(rowOf(emit.min(end, emit.add(firstTile, grid.tilesDown))), emit.i64(gemm.m)),
              .column = emit.mul(emit.remainder(strip, grid.tilesAcross), grid.columns),
              .adds = emit.i64(gemm.accumulate)};
    // The block's memory has room for the sums of one tile.
    const bool keepsSums = product.roundsResult() && memory.sumRows == grid.rows;
    const int64_t rowsAtOnce = keepsSums ? grid.rows : grid.rows * grid.tilesDown;
    emit.loop(area.row, area.endRow, rowsAtOnce, [&](Value row) {
      Area part = area;
      part.row = row;
      part.endRow = emit.min(emit.add(row, rowsAtOnce), area.endRow);
      if (!gemm.sumsBatch())
        return compute(part);
      emit.loop(emit.i64(0), emit.i64(gemm.batch), 1, [&](Value summed) {
        part.matrix = summed;
        part.adds = gemm.accumulate ? emit.i64(1) : emit.min(summed, emit.i64(1));
        compute(part);
      });
    });
  });
}

void GemmTile::compute(const Area &area) {
  Value columns = emit.min(emit.i64(grid.columns), emit.sub(emit.i64(gemm.n), area.column));
  Value baseA = emit.mul(area.matrix, gemm.strideA), baseB = emit.mul(area.matrix, gemm.strideB);
  const auto fromA = [&](Value row, Value term) {
    return pointerTo(at.a, baseA, row, term, gemm.lda, !gemm.transposeA);
  };
  const auto fromB = [&](Value column, Value term) {
    return pointerTo(at.b, baseB, column, term, gemm.ldb, gemm.transposeB);
  };
  emit.loop(emit.i64(0), emit.i64(gemm.k), scheme.depthBlock, [&](Value first) {
    Value depth = emit.min(emit.i64(scheme.depthBlock), emit.sub(emit.i64(gemm.k), first));
    call(scheme.packB, {at.panelsB, fromB(area.column, first), emit.i64(gemm.ldb), columns, depth});
    Block terms = block(area.matrix, first, depth, area.adds);
    // After the last block of terms, the next columns begin with the first.
    Value end = emit.add(first, depth), isLast = emit.less(emit.i64(gemm.k - 1), end);
    Value nextTerm = select(isLast, emit.i64(0), end);
    terms.nextB = fromB(select(isLast, emit.add(area.column, grid.columns), area.column), nextTerm);
    Value nextDepth = emit.min(emit.i64(scheme.depthBlock), emit.sub(emit.i64(gemm.k), nextTerm));
    terms.lastNextB = gemm.transposeB ? emit.i64(grid.columns - 2) : emit.sub(nextDepth, emit.i64(1));
    emit.loop(area.row, area.endRow, grid.rows, [&](Value row) {
      Strip strip{.fromA = fromA(row, first),
                  .baseC = emit.add(emit.mul(area.matrix, gemm.strideC),
                                    emit.add(emit.mul(row, gemm.ldc), area.column)),
                  .rows = emit.min(emit.i64(grid.rows), emit.sub(area.endRow, row)),
                  .columns = columns,
                  .calls = emit.mul(emit.divide(emit.sub(row, area.row), scheme.callRows), callsAcross())};
      if (scheme.packsA) {
        call(scheme.packA, {at.panelsA, strip.fromA, emit.i64(gemm.lda), strip.rows, depth});
        Value nextRow = emit.add(row, grid.rows), hasNext = emit.less(nextRow, area.endRow);
        strip.nextA = fromA(select(hasNext, nextRow, area.row), select(hasNext, first, nextTerm));
      }
      multiplyPanels(strip, terms);
    });
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
void GemmTile::multiplyPanels(const Strip &strip, const Block &block) {
  emit.loop(emit.i64(0), strip.rows, scheme.callRows, [&](Value i) {
    if (product.roundsResult())
      return multiplyRounded(i, strip, block);
    emit.loop(emit.i64(0), strip.columns, scheme.callColumns, [&](Value j) {
      Value to =
          emit.pointer(at.c, product.result, emit.add(strip.baseC, emit.add(emit.mul(i, gemm.ldc), j)));
      multiply(i, j, to, gemm.ldc, strip, block);
    });
  });
}

/// Sums are in the block's memory, and still in the L1 cache when they are rounded.
void GemmTile::multiplyRounded(Value i, const Strip &strip, const Block &block) {
  Type real = emit.builder.getF32Type();
  Value to = emit.pointer(at.c, product.result, emit.add(strip.baseC, emit.mul(i, gemm.ldc)));
  Value sums =
      memory.sumRows <= scheme.callRows ? at.sums : emit.pointer(at.sums, real, emit.mul(i, grid.columns));
  Value height = emit.min(emit.i64(scheme.callRows), emit.sub(strip.rows, i));
  const SmallVector<Value> rows = {to,     sums,         emit.i64(gemm.ldc), emit.i64(grid.columns),
                                   height, strip.columns};
  if (gemm.accumulate)
    emit.when(block.opens, [&] { call(widenRows(kernels, product.result), rows); });
  emit.loop(emit.i64(0), strip.columns, scheme.callColumns,
            [&](Value j) { multiply(i, j, emit.pointer(sums, real, j), grid.columns, strip, block); });
  emit.when(block.closes, [&] { call(roundRows(kernels, product.result), rows); });
}

void GemmTile::multiply(Value i, Value j, Value to, int64_t stride, const Strip &strip, const Block &block) {
  Value rowsOfA = scheme.packsA ? panelAt(at.panelsA, i, scheme.panelRows)
                                : emit.pointer(strip.fromA, product.factor, emit.mul(i, gemm.lda));
  Value across = emit.divide(j, scheme.callColumns),
        done = emit.add(emit.mul(emit.divide(i, scheme.callRows), callsAcross()), across);
  call(scheme.multiply,
       {rowsOfA, panelAt(at.panelsB, j, scheme.panelColumns), to, nextRowsOfA(i, across, done, strip),
        nextRowsOfB(emit.add(strip.calls, done), block), block.depth, emit.i64(stride),
        emit.sub(strip.rows, i), emit.sub(strip.columns, j), block.adds, emit.i64(gemm.lda),
        emit.i64(gemm.transposeB ? gemm.ldb : scheme.depthBlock / 2)});
}

/// Returns the pointer to two rows of A as stored, from which call number `across` of the calls for row i
/// prefetches. In place, all calls for row i prefetch the rows that are read next; otherwise, all calls of
/// the strip prefetch what is packed next. `done` is the number of calls of the strip before this one.
Value GemmTile::nextRowsOfA(Value i, Value across, Value done, const Strip &strip) {
  Value from = strip.nextA, row = emit.min(emit.mul(done, 2), emit.i64(scheme.depthBlock - 2));
  if (!scheme.packsA) {
    from = strip.fromA;
    row = emit.add(emit.add(i, scheme.callRows), emit.remainder(emit.mul(across, 2), scheme.callRows));
  }
  return emit.pointer(from, product.factor, emit.mul(row, gemm.lda));
}

/// Returns the pointer to the rows of B as stored from which a call prefetches: two rows whose elements are
/// the terms of a column, or one row of terms of all columns. `done` is the number of calls for this block of
/// terms before this one.
Value GemmTile::nextRowsOfB(Value done, const Block &block) {
  Value row = emit.min(emit.mul(done, gemm.transposeB ? 2 : 1), block.lastNextB);
  return emit.pointer(block.nextB, product.factor, emit.mul(row, gemm.ldb));
}

Value GemmTile::select(Value condition, Value ifTrue, Value ifFalse) {
  return arith::SelectOp::create(emit.builder, emit.loc, condition, ifTrue, ifFalse);
}

int64_t GemmTile::callsAcross() const { return llvm::divideCeil(grid.columns, scheme.callColumns); }

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
