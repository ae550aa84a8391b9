// Matrix products without a library call. Each block computes a square of the result from squares of the
// factors in its memory; each thread computes some rows of one column.
#include "dialects/NN/Builders.h"
#include "lib/Codegen/Cuda/Generators.h"
#include "lib/Codegen/Cuda/Squares.h"
#include "lib/Codegen/Kernels/KernelFunction.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static constexpr int64_t kSide = cuda::kSquareSide, kRow = cuda::squareRow(kSide);
static constexpr int64_t kProductThreads = 256, kRowsApart = kProductThreads / kSide;

namespace {

/// A factor, or the result, of one matrix of the batch.
struct Matrix {
  Value base;
  Type element;
  Value offset; ///< of its first element
  int64_t rowStride, columnStride;
};

class ProductEmitter {
public:
  ProductEmitter(GemmOpInterface op, KernelFunction &function)
      : op(op), gemm(op.getGemmShape()), function(function), emit(function.emit()),
        sumElement(nn::wideElement(getElementTypeOrSelf(op->getResult(0)))) {}

  void run() {
    squareA = function.blockArray(sumElement, kSide * kRow);
    squareB = function.blockArray(sumElement, kSide * kRow);
    column = emit.remainder(function.thread(), kSide);
    row = emit.divide(function.thread(), kSide);
    function.tiles([&](Value tile) {
      const int64_t across = llvm::divideCeil(gemm.n, kSide),
                    squares = llvm::divideCeil(gemm.m, kSide) * across;
      Value square = emit.remainder(tile, squares);
      top = emit.mul(emit.divide(square, across), kSide);
      left = emit.mul(emit.remainder(square, across), kSide);
      store(emit.divide(tile, squares), sums(emit.divide(tile, squares)));
    });
  }

private:
  static constexpr int64_t kSums = kSide / kRowsApart; ///< per thread

  Matrix factorA(Value batch) {
    return {function.operand(0), getElementTypeOrSelf(op->getOperand(0)), emit.mul(batch, gemm.strideA),
            gemm.transposeA ? 1 : gemm.lda, gemm.transposeA ? gemm.lda : 1};
  }
  Matrix factorB(Value batch) {
    return {function.operand(1), getElementTypeOrSelf(op->getOperand(1)), emit.mul(batch, gemm.strideB),
            gemm.transposeB ? 1 : gemm.ldb, gemm.transposeB ? gemm.ldb : 1};
  }
  Matrix result(Value batch) {
    return {function.result(0), getElementTypeOrSelf(op->getResult(0)), emit.mul(batch, gemm.strideC),
            gemm.ldc, 1};
  }
  Address at(const Matrix &matrix, Value i, Value j) {
    return {
        matrix.base, matrix.element,
        emit.add(matrix.offset, emit.add(emit.mul(i, matrix.rowStride), emit.mul(j, matrix.columnStride)))};
  }

  /// Returns this thread's sums for matrix `batch` of the result.
  SmallVector<Value> sums(Value batch) {
    SmallVector<Value> zeros(kSums, emit.constant(sumElement, 0));
    if (!gemm.sumsBatch())
      return products(batch, zeros);
    return emit.loop(emit.i64(0), emit.i64(gemm.batch), 1, zeros,
                     [&](Value each, ValueRange carried) { return products(each, carried); });
  }

  SmallVector<Value> products(Value batch, ValueRange carried) {
    const Matrix a = factorA(batch), b = factorB(batch);
    return emit.loop(emit.i64(0), emit.i64(gemm.k), kSide, carried, [&](Value k, ValueRange before) {
      hold(squareA, a, top, gemm.m, k, gemm.k);
      hold(squareB, b, k, gemm.k, left, gemm.n);
      function.barrier();
      SmallVector<Value> after =
          emit.loop(emit.i64(0), emit.i64(kSide), 1, before, [&](Value i, ValueRange sums) {
            Value right = emit.load({squareB, sumElement, emit.add(emit.mul(i, kRow), column)});
            SmallVector<Value> next;
            for (auto [index, sum] : llvm::enumerate(sums)) {
              Value down = emit.add(row, int64_t(index) * kRowsApart);
              Value factor = emit.load({squareA, sumElement, emit.add(emit.mul(down, kRow), i)});
              next.push_back(math::FmaOp::create(emit.builder, emit.loc, factor, right, sum));
            }
            return next;
          });
      function.barrier();
      return after;
    });
  }

  /// Copies a square of a matrix of rows x columns to the block's memory; elements beyond the matrix are
  /// zero. Adjacent threads read contiguous elements.
  void hold(Value square, const Matrix &matrix, Value firstRow, int64_t rows, Value firstColumn,
            int64_t columns) {
    for (int64_t index = 0; index < kSums; ++index) {
      Value far = emit.add(row, index * kRowsApart);
      const bool alongRows = matrix.columnStride == 1;
      Value down = alongRows ? far : column, along = alongRows ? column : far;
      Value i = emit.add(firstRow, down), j = emit.add(firstColumn, along);
      Value inside = arith::AndIOp::create(emit.builder, emit.loc, emit.less(i, emit.i64(rows)),
                                           emit.less(j, emit.i64(columns)));
      const Address to{square, sumElement, emit.add(emit.mul(down, kRow), along)};
      emit.store(emit.constant(sumElement, 0), to);
      emit.when(inside, [&] { emit.store(emit.load(at(matrix, i, j)), to); });
    }
  }

  void store(Value batch, ValueRange sums) {
    const Matrix c = result(batch);
    Value j = emit.add(left, column);
    for (auto [index, sum] : llvm::enumerate(sums)) {
      Value i = emit.add(top, emit.add(row, int64_t(index) * kRowsApart));
      Value inside = arith::AndIOp::create(emit.builder, emit.loc, emit.less(i, emit.i64(gemm.m)),
                                           emit.less(j, emit.i64(gemm.n)));
      emit.when(inside, [&] {
        const Address to = at(c, i, j);
        emit.store(gemm.accumulate ? emit.add(emit.load(to), sum) : sum, to);
      });
    }
  }

  GemmOpInterface op;
  GemmShape gemm;
  KernelFunction &function;
  Emitter &emit;
  Type sumElement;
  Value squareA, squareB, row, column, top, left;
};

} // namespace

KernelSummary trainc::codegen::cuda::summariseGemm(GemmOpInterface op) {
  const GemmShape gemm = op.getGemmShape();
  Type sum = nn::wideElement(getElementTypeOrSelf(op->getResult(0)));
  LaunchSummary launch{.name = "gemm",
                       .grid = int64_t(llvm::divideCeil(gemm.m, kSide)) *
                               int64_t(llvm::divideCeil(gemm.n, kSide)) * (gemm.sumsBatch() ? 1 : gemm.batch),
                       .params = {},
                       .flops = 2 * gemm.batch * gemm.m * gemm.n * gemm.k,
                       .sharedBytes = 2 * blockArrayBytes(sum, kSide * kRow),
                       .threads = kProductThreads};
  launch.params.push_back(operandParam(op, 0));
  launch.params.push_back(operandParam(op, 1));
  launch.params.push_back(
      resultParam(op, 0, gemm.accumulate ? plan::Access::read_write : plan::Access::write));
  KernelSummary kernels;
  kernels.launches.push_back(std::move(launch));
  return kernels;
}

Symbols trainc::codegen::cuda::generateGemm(GemmOpInterface op, KernelModule &kernels) {
  const KernelSummary summary = summariseGemm(op);
  KernelFunction function(kernels, summary.launches.front());
  ProductEmitter(op, function).run();
  return {function.finish()};
}
