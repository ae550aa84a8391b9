// Matrix products: C = op(A) op(B), or C += op(A) op(B), for every matrix of a batch.
#include "lib/Codegen/Cpu/Gemm.h"

#include "lib/Codegen/Cpu/CpuTarget.h"
#include "lib/Codegen/Cpu/Generators.h"
#include "lib/Codegen/Cpu/MatrixUnit.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

namespace {

/// A tile of C, which one thread computes, and how many cover C: some of them where there are few.
struct TileGrid {
  TileGrid(const GemmShape &gemm, const ProductSizes &sizes) : gemm(gemm), sizes(sizes) {
    constexpr int64_t kFewest = 4;
    int64_t down = llvm::divideCeil(gemm.m, sizes.tileRows);
    int64_t across = llvm::divideCeil(gemm.n, sizes.tileColumns);
    divide(down, across);
    while (gemm.batch * down * across < kFewest && std::max(rows, columns) > 2 * sizes.panelColumns) {
      (rows >= columns ? down : across) *= 2;
      divide(down, across);
    }
    tilesDown = llvm::divideCeil(gemm.m, rows);
    tilesAcross = llvm::divideCeil(gemm.n, columns);
  }

  int64_t rows, columns, tilesDown, tilesAcross;

  /// Tiles of one matrix.
  int64_t tiles() const { return tilesDown * tilesAcross; }

private:
  void divide(int64_t down, int64_t across) {
    rows = llvm::alignTo(llvm::divideCeil(gemm.m, down), sizes.panelRows);
    columns = llvm::alignTo(llvm::divideCeil(gemm.n, across), sizes.panelColumns);
  }

  const GemmShape &gemm;
  const ProductSizes &sizes;
};

/// Of the panels that hold `lanes` lanes, `width` each.
int64_t panelBytes(const ProductSizes &sizes, int64_t lanes, int64_t width) {
  return lanes / width * sizes.panelStride(width);
}

/// Products too small to fill the matrix unit's tiles are left to multiply-adds.
bool fitsMatrixUnit(Fp32Products products, Type element, const GemmShape &gemm) {
  constexpr int64_t kSmallest = 32;
  const bool fills = std::min({gemm.m, gemm.n, gemm.k}) >= kSmallest;
  return products == Fp32Products::Bf16x3 && element.isF32() && fills;
}

ProductScheme makeScheme(KernelModule &kernels, Type element, const GemmShape &gemm) {
  const LaneOrder a = gemm.transposeA ? LaneOrder::Adjacent : LaneOrder::Strided;
  const LaneOrder b = gemm.transposeB ? LaneOrder::Strided : LaneOrder::Adjacent;
  return fitsMatrixUnit(fp32Products(kernels), element, gemm) ? splitProducts(kernels, a, b)
                                                              : fmaProducts(kernels, element, a, b);
}

class GemmEmitter {
public:
  GemmEmitter(GemmOpInterface op, const GemmShape &gemm, KernelFunction &function)
      : gemm(gemm), function(function), emit(function.emit()),
        element(getElementTypeOrSelf(op->getResult(0))), scheme(makeScheme(function.module(), element, gemm)),
        grid(gemm, scheme) {}

  void run() {
    a = function.operand(0);
    b = function.operand(1);
    c = function.result(0);
    panelsA = panels(grid.rows, scheme.panelRows);
    panelsB = panels(grid.columns, scheme.panelColumns);
    if (scheme.onMatrixUnit)
      MatrixUnit(emit).configure();
    function.tiles([&](Value index) {
      Value matrix = emit.divide(index, grid.tiles()), place = emit.remainder(index, grid.tiles());
      Value row = emit.mul(emit.remainder(place, grid.tilesDown), grid.rows);
      Value column = emit.mul(emit.divide(place, grid.tilesDown), grid.columns);
      if (!gemm.sumsBatch())
        return tile(matrix, row, column, emit.i64(gemm.accumulate));
      emit.loop(emit.i64(0), emit.i64(gemm.batch), 1, [&](Value summed) {
        Value earlier = gemm.accumulate ? emit.i64(1) : emit.min(summed, emit.i64(1));
        tile(summed, row, column, earlier);
      });
    });
    if (scheme.onMatrixUnit)
      MatrixUnit(emit).release();
  }

private:
  /// `adds`: 1 if the first block of terms adds to C already.
  void tile(Value matrix, Value row, Value column, Value adds) {
    Value rows = emit.min(emit.i64(grid.rows), emit.sub(emit.i64(gemm.m), row));
    Value columns = emit.min(emit.i64(grid.columns), emit.sub(emit.i64(gemm.n), column));
    Value baseA = emit.mul(matrix, gemm.strideA), baseB = emit.mul(matrix, gemm.strideB);
    Value baseC = emit.add(emit.mul(matrix, gemm.strideC), emit.add(emit.mul(row, gemm.ldc), column));
    emit.loop(emit.i64(0), emit.i64(gemm.k), scheme.depthBlock, [&](Value first) {
      Value depth = emit.min(emit.i64(scheme.depthBlock), emit.sub(emit.i64(gemm.k), first));
      Value fromA = pointerTo(a, baseA, row, first, gemm.lda, !gemm.transposeA);
      Value fromB = pointerTo(b, baseB, column, first, gemm.ldb, gemm.transposeB);
      call(scheme.packA, {panelsA, fromA, emit.i64(gemm.lda), rows, depth});
      call(scheme.packB, {panelsB, fromB, emit.i64(gemm.ldb), columns, depth});
      multiplyPanels(baseC, rows, columns, depth, emit.max(adds, emit.min(first, emit.i64(1))));
    });
  }

  /// A panel of A stays in the first-level cache while those of B pass by.
  void multiplyPanels(Value baseC, Value rows, Value columns, Value depth, Value adds) {
    emit.loop(emit.i64(0), rows, scheme.panelRows, [&](Value i) {
      emit.loop(emit.i64(0), columns, scheme.panelColumns, [&](Value j) {
        Value to = emit.pointer(c, element, emit.add(baseC, emit.add(emit.mul(i, gemm.ldc), j)));
        call(scheme.multiply,
             {panelAt(panelsA, i, scheme.panelRows), panelAt(panelsB, j, scheme.panelColumns), to, depth,
              emit.i64(gemm.ldc), emit.sub(rows, i), emit.sub(columns, j), adds});
      });
    });
  }

  /// Pointer to the element of lane `lane` and term `term`; `lanesAreRows`: of the matrix as it lies in
  /// memory.
  Value pointerTo(Value base, Value offset, Value lane, Value term, int64_t stride, bool lanesAreRows) {
    Value row = lanesAreRows ? lane : term, column = lanesAreRows ? term : lane;
    return emit.pointer(base, element, emit.add(offset, emit.add(emit.mul(row, stride), column)));
  }

  void call(func::FuncOp callee, ArrayRef<Value> args) {
    func::CallOp::create(emit.builder, emit.loc, callee, args);
  }

  Value panels(int64_t lanes, int64_t width) {
    return function.blockArray(emit.builder.getI8Type(), panelBytes(scheme, lanes, width));
  }

  Value panelAt(Value panels, Value lane, int64_t width) {
    Value offset = emit.mul(emit.divide(lane, width), scheme.panelStride(width));
    return emit.pointer(panels, emit.builder.getI8Type(), offset);
  }

  const GemmShape &gemm;
  KernelFunction &function;
  Emitter &emit;
  Type element;
  ProductScheme scheme;
  TileGrid grid;
  Value a, b, c, panelsA, panelsB;
};

} // namespace

KernelSummary trainc::codegen::summariseGemm(GemmOpInterface op, Fp32Products products) {
  const GemmShape gemm = op.getGemmShape();
  Type element = getElementTypeOrSelf(op->getResult(0));
  const ProductSizes sizes = fitsMatrixUnit(products, element, gemm) ? splitSizes() : fmaSizes(element);
  const int64_t matrices = gemm.sumsBatch() ? 1 : gemm.batch;
  const TileGrid grid(gemm, sizes);
  Type byte = IntegerType::get(op->getContext(), 8);
  KernelSummary kernels;
  kernels.launches.push_back(
      {.name = llvm::formatv("gemm_{0}x{1}x{2}_{3}{4}", gemm.m, gemm.n, gemm.k, gemm.transposeA ? 't' : 'n',
                             gemm.transposeB ? 't' : 'n'),
       .grid = matrices * grid.tiles(),
       .params = {operandParam(op, 0), operandParam(op, 1),
                  resultParam(op, 0, gemm.accumulate ? plan::Access::read_write : plan::Access::write)},
       .flops = 2 * gemm.batch * gemm.m * gemm.n * gemm.k,
       .sharedBytes = blockArrayBytes(byte, panelBytes(sizes, grid.rows, sizes.panelRows)) +
                      blockArrayBytes(byte, panelBytes(sizes, grid.columns, sizes.panelColumns))});
  return kernels;
}

Symbols trainc::codegen::generateGemm(GemmOpInterface op, KernelModule &kernels) {
  const KernelSummary summary = summariseGemm(op, fp32Products(kernels));
  KernelFunction function(kernels, summary.launches.front());
  const GemmShape gemm = op.getGemmShape();
  GemmEmitter(op, gemm, function).run();
  return {function.finish()};
}
