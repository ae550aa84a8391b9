#include "lib/Codegen/Cpu/RowProducts.h"

#include "dialects/NN/Builders.h"
#include "lib/Codegen/Cpu/FmaProducts.h"
#include "lib/Support/StoredElement.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

namespace {

/// Columns of C that are computed together. They are enough independent chains of multiply-adds to hide the
/// latency of each.
class RowColumns {
public:
  RowColumns(const Product &product, Emitter &emit, Value a, Value b, Value c, Value first)
      : product(product), gemm(product.shape), emit(emit), a(a), b(b), first(first) {
    for (int64_t lane = 0; lane < countOf(gemm); lane += lanes())
      vectors.push_back({c, product.result, emit.add(first, lane)});
    for (const Address &vector : vectors)
      masks.push_back(gemm.n % countOf(gemm) == 0
                          ? Mask()
                          : emit.lanesBelow(emit.sub(emit.i64(gemm.n), vector.index), lanes()));
    for (int64_t i = 0; gemm.transposeB && i < countOf(gemm); ++i)
      rows.push_back(emit.mul(emit.min(emit.add(first, i), emit.i64(gemm.n - 1)), gemm.ldb));
  }

  static int64_t countOf(const GemmShape &gemm) { return gemm.transposeB ? 2 * kSquare : 4 * kWide; }

  void compute() {
    Value none = emit.constant(Emitter::laneType(nn::wideElement(product.factor), lanes()), 0);
    SmallVector<Value> totals;
    for (auto [vector, mask] : llvm::zip(vectors, masks))
      totals.push_back(gemm.accumulate ? emit.load(vector, lanes(), mask) : none);
    const SmallVector<Value> zeros(totals.size(), none);
    constexpr int64_t kDepth = fma::kDepthBlock;
    const int64_t whole = gemm.k / kDepth * kDepth;
    totals = emit.loop(emit.i64(0), emit.i64(whole), kDepth, totals, [&](Value term, ValueRange carried) {
      return addBlock(term, kDepth, zeros, carried);
    });
    if (whole != gemm.k)
      totals = addBlock(emit.i64(whole), gemm.k - whole, zeros, totals);
    for (auto [total, vector, mask] : llvm::zip(totals, vectors, masks))
      emit.store(total, vector, mask);
  }

private:
  /// kSquare: number of terms, and of columns, of a square of B that is transposed in registers. kWide: lanes
  /// of a vector if columns of B are contiguous.
  static constexpr int64_t kSquare = 8, kWide = 16;

  int64_t lanes() const { return gemm.transposeB ? kSquare : kWide; }

  /// Adds the sums of `depth` terms from `firstTerm` on to the totals.
  SmallVector<Value> addBlock(Value firstTerm, int64_t depth, ValueRange zeros, ValueRange totals) {
    constexpr int64_t kStep = kSquare;
    const int64_t whole = depth / kStep * kStep;
    Value end = emit.add(firstTerm, whole);
    SmallVector<Value> sums = emit.loop(firstTerm, end, kStep, zeros, [&](Value term, ValueRange carried) {
      return addTerms(term, kStep, carried);
    });
    if (whole != depth)
      sums = addTerms(end, depth - whole, sums);
    for (auto [sum, total] : llvm::zip(sums, totals))
      sum = emit.add(total, sum);
    return sums;
  }

  SmallVector<Value> addTerms(Value term, int64_t count, ValueRange carried) {
    return gemm.transposeB ? addSquares(term, count, carried) : addRows(term, count, carried);
  }

  /// Adds `count` terms if each row of B is a column of the product. Prefetches the rows of the next columns.
  SmallVector<Value> addSquares(Value term, int64_t count, ValueRange carried) {
    SmallVector<Value> sums(carried);
    Mask mask = count < kSquare ? emit.lanesBelow(emit.i64(count), kSquare) : Mask();
    for (auto [group, sum] : llvm::enumerate(sums)) {
      SmallVector<Value> square;
      for (Value row : ArrayRef(rows).slice(group * kSquare, kSquare)) {
        Value index = emit.add(row, term);
        emit.prefetch(emit.pointer(b, product.factor, emit.add(index, countOf(gemm) * gemm.ldb)));
        square.push_back(emit.load({b, product.factor, index}, kSquare, mask));
      }
      square = emit.transposed(square);
      for (int64_t i = 0; i < count; ++i)
        sum = multiplyAdd(emit.add(term, i), square[i], sum);
    }
    return sums;
  }

  /// Adds `count` terms if each row of B has one term of all columns. Prefetches later rows, which are too
  /// far away for hardware prefetching.
  SmallVector<Value> addRows(Value term, int64_t count, ValueRange carried) {
    constexpr int64_t kRowsAhead = 8;
    const int64_t lineLanes = fma::kLineBytes / elementBytes(product.factor);
    SmallVector<Value> sums(carried);
    for (int64_t i = 0; i < count; ++i) {
      Value index = emit.add(emit.mul(emit.add(term, i), gemm.ldb), first);
      for (int64_t lane = 0; lane < countOf(gemm); lane += lineLanes)
        emit.prefetch(emit.pointer(b, product.factor, emit.add(index, kRowsAhead * gemm.ldb + lane)));
      for (auto [vector, sum] : llvm::enumerate(sums)) {
        const Address at{b, product.factor, emit.add(index, int64_t(vector) * kWide)};
        sum = multiplyAdd(emit.add(term, i), emit.load(at, kWide, masks[vector]), sum);
      }
    }
    return sums;
  }

  Value multiplyAdd(Value term, Value right, Value sum) {
    Value left = emit.splat(emit.load({a, product.factor, term}), lanes());
    return math::FmaOp::create(emit.builder, emit.loc, left, right, sum);
  }

  const Product &product;
  const GemmShape &gemm;
  Emitter &emit;
  Value a, b, first;
  SmallVector<Address> vectors; ///< of C
  SmallVector<Mask> masks;      ///< of the same vectors
  SmallVector<Value> rows;      ///< offsets in B, if its rows are columns of the product
};

} // namespace

bool trainc::codegen::isRowProduct(const Product &product) {
  const GemmShape &gemm = product.shape;
  return gemm.m == 1 && !gemm.sumsBatch() && (!gemm.transposeA || gemm.lda == 1) &&
         nn::wideElement(product.factor).isF32();
}

ProductSizes trainc::codegen::rowProductSizes(const Product &product) {
  ProductSizes sizes = fmaSizes(product.factor, LaneOrder::Strided);
  sizes.panelRows = 1;
  sizes.panelColumns = RowColumns::countOf(product.shape);
  return sizes;
}

void trainc::codegen::emitRowProduct(const Product &product, const TileGrid &grid, KernelFunction &function) {
  Emitter &emit = function.emit();
  const GemmShape &gemm = product.shape;
  Value a = function.operand(0), b = function.operand(1), c = function.result(0);
  function.tiles([&](Value index) {
    Value matrix = emit.divide(index, grid.tiles());
    Value first = emit.mul(emit.remainder(index, grid.tiles()), grid.columns);
    Value end = emit.min(emit.add(first, grid.columns), emit.i64(gemm.n));
    Value rowA = emit.pointer(a, product.factor, emit.mul(matrix, gemm.strideA)),
          matrixB = emit.pointer(b, product.factor, emit.mul(matrix, gemm.strideB)),
          rowC = emit.pointer(c, product.result, emit.mul(matrix, gemm.strideC));
    emit.loop(first, end, RowColumns::countOf(gemm),
              [&](Value column) { RowColumns(product, emit, rowA, matrixB, rowC, column).compute(); });
  });
}
