// Matrix products: C = op(A) op(B), or C += op(A) op(B), for every matrix of a batch.
#include "lib/Codegen/Cpu/Gemm.h"

#include "lib/Codegen/Cpu/GemmTile.h"
#include "lib/Codegen/Cpu/Generators.h"
#include "lib/Codegen/Cpu/Levels.h"
#include "lib/Codegen/Cpu/RowProducts.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

namespace {

LaneOrder orderA(const GemmShape &gemm) { return gemm.transposeA ? LaneOrder::Adjacent : LaneOrder::Strided; }
LaneOrder orderB(const GemmShape &gemm) { return gemm.transposeB ? LaneOrder::Strided : LaneOrder::Adjacent; }

/// Products too small to fill the matrix unit's tiles use multiply-adds.
bool fitsMatrixUnit(Fp32Products products, const Product &product) {
  constexpr int64_t kSmallest = 32;
  const GemmShape &gemm = product.shape;
  const bool fills = std::min({gemm.m, gemm.n, gemm.k}) >= kSmallest;
  return products == Fp32Products::Bf16x3 && product.factor.isF32() && fills;
}

ProductSizes sizesOf(Fp32Products products, const Product &product) {
  if (fitsMatrixUnit(products, product))
    return splitSizes();
  if (isRowProduct(product))
    return rowProductSizes(product);
  return product.factor.isBF16() ? bf16Sizes() : fmaSizes(product.factor, orderA(product.shape));
}

class GemmEmitter {
public:
  GemmEmitter(const Product &product, KernelFunction &function)
      : product(product), gemm(product.shape), function(function), kernels(function.module()),
        emit(function.emit()), sizes(sizesOf(fp32Products(kernels), product)), grid(gemm, sizes),
        memory(product, sizes, grid) {}

  void run() {
    GemmTile::Pointers at{.a = function.operand(0), .b = function.operand(1), .c = function.result(0)};
    if (sizes.packsA)
      at.panelsA = function.blockArray(emit.builder.getI8Type(), memory.bytesA);
    at.panelsB = function.blockArray(emit.builder.getI8Type(), memory.bytesB);
    if (memory.sums > 0)
      at.sums = function.blockArray(emit.builder.getF32Type(), memory.sums);
    const ProductScheme scheme = makeScheme();
    callIfAny(scheme.begin);
    GemmTile tile(kernels, emit, product, grid, memory, scheme, at);
    function.tileRange([&](Value begin, Value end) { tile.compute(begin, end); });
    callIfAny(scheme.end);
  }

private:
  ProductScheme makeScheme() {
    if (fitsMatrixUnit(fp32Products(kernels), product))
      return splitProducts(kernels, orderA(gemm), orderB(gemm));
    return product.factor.isBF16() ? bf16Products(kernels, orderA(gemm), orderB(gemm))
                                   : fmaProducts(kernels, product.factor, orderA(gemm), orderB(gemm));
  }

  void callIfAny(func::FuncOp callee) {
    if (callee)
      func::CallOp::create(emit.builder, emit.loc, callee, ValueRange());
  }

  const Product &product;
  const GemmShape &gemm;
  KernelFunction &function;
  KernelModule &kernels;
  Emitter &emit;
  const ProductSizes sizes;
  const TileGrid grid;
  const TileMemory memory;
};

} // namespace

KernelSummary trainc::codegen::summariseGemm(GemmOpInterface op, Fp32Products products) {
  const Product product(op);
  const GemmShape &gemm = product.shape;
  const ProductSizes sizes = sizesOf(products, product);
  const int64_t matrices = gemm.sumsBatch() ? 1 : gemm.batch;
  const TileGrid grid(gemm, sizes);
  const TileMemory memory(product, sizes, grid);
  Type byte = IntegerType::get(op->getContext(), 8), real = Float32Type::get(op->getContext());
  const int64_t panelBytes = blockArrayBytes(byte, memory.bytesA) + blockArrayBytes(byte, memory.bytesB) +
                             blockArrayBytes(real, memory.sums);
  KernelSummary kernels;
  kernels.launches.push_back(
      {.name = llvm::formatv("gemm_{0}x{1}x{2}_{3}{4}", gemm.m, gemm.n, gemm.k, gemm.transposeA ? 't' : 'n',
                             gemm.transposeB ? 't' : 'n'),
       .grid = matrices * grid.tiles(),
       .params = {operandParam(op, 0), operandParam(op, 1),
                  resultParam(op, 0, gemm.accumulate ? plan::Access::read_write : plan::Access::write)},
       .flops = 2 * gemm.batch * gemm.m * gemm.n * gemm.k,
       .sharedBytes = isRowProduct(product) ? 0 : panelBytes});
  LaunchSummary &launch = kernels.launches.back();
  // Each tile reads its own rows of A and packs its own columns of B.
  if (grid.tiles() > 1)
    launch.movedBytes = paramBytes(launch) + (grid.tilesAcross - 1) * launch.params[0].bytes +
                        (grid.tilesDown - 1) * launch.params[1].bytes +
                        (gemm.accumulate ? launch.params[2].bytes : 0);
  return kernels;
}

Symbols trainc::codegen::generateGemm(GemmOpInterface op, KernelModule &kernels) {
  const KernelSummary summary = summariseGemm(op, fp32Products(kernels));
  KernelFunction function(kernels, summary.launches.front());
  const Product product(op);
  if (isRowProduct(product))
    emitRowProduct(product, TileGrid(product.shape, rowProductSizes(product)), function);
  else
    GemmEmitter(product, function).run();
  return {function.finish()};
}
