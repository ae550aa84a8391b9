// Micro-kernel of matrix products, with a variant for each instruction-set level.
#include "dialects/NN/Builders.h"
#include "lib/Codegen/Cpu/FmaProducts.h"
#include "lib/Codegen/Cpu/Levels.h"
#include "lib/Support/StoredElement.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;
using namespace trainc::codegen::fma;

namespace {

/// Prefetches what a call of the micro-kernel stores to, and what later calls read. Many prefetches at once
/// stall until lines arrive, so that levels with AVX-512 spread all of them over the terms: their
/// multiply-adds leave time for the instructions, and L2 caches of their CPUs have room for the next part of
/// B.
class Prefetches {
public:
  static constexpr int64_t kTerms = 4; ///< terms per call of part()

  Prefetches(Emitter &emit, func::FuncOp function, const Factors &factors, const Level &level)
      : emit(emit), element(factors.word()), rows(level.registerRows), columns(level.registerColumns),
        spreads(level.lanes == 16), hasNext(!factors.element.isBF16()), nextA(function.getArgument(3)),
        nextB(function.getArgument(4)), stride(function.getArgument(6)), strideA(function.getArgument(10)),
        distanceB(function.getArgument(11)) {}

  /// Builds the code before the products of two panels, which are stored at `c`.
  void before(Value c) const {
    if (spreads)
      return;
    for (int64_t row = 0; row < kPanelRows; ++row)
      for (int64_t column = 0; column < kPanelColumns; column += lineElements())
        prefetchC(c, emit.i64(row), emit.i64(column));
  }

  /// Builds the code for kTerms terms from p on. All parts together are the tile of C at `to`, two rows of A,
  /// and two rows of B or a longer one.
  void part(Value to, Value p) const {
    if (spreads) {
      const int64_t rowTerms = llvm::divideCeil(columns, lineElements()) * kTerms;
      prefetchC(to, emit.min(emit.divide(p, rowTerms), emit.i64(rows - 1)),
                emit.mul(emit.remainder(p, rowTerms), lineElements() / kTerms));
    }
    if (!hasNext)
      return;
    for (Value from : {p, emit.add(strideA, p)})
      emit.prefetch(emit.pointer(nextA, element, from));
    if (spreads)
      for (Value from : {p, emit.add(distanceB, p)})
        emit.prefetch(emit.pointer(nextB, element, from));
  }

private:
  void prefetchC(Value c, Value row, Value column) const {
    emit.prefetch(emit.pointer(c, element, emit.add(emit.mul(stride, row), column)), /*forWrite=*/true);
  }
  int64_t lineElements() const { return kLineBytes / elementBytes(element); }

  Emitter &emit;
  Type element;                // of sums
  const int64_t rows, columns; // of a register tile
  const bool spreads;          // over the terms
  const bool hasNext;          // whether nextA and nextB are prefetched
  Value nextA, nextB, stride, strideA, distanceB;
};

/// Builds the body for one level: panel by panel, and within panels one register tile of rows x columns after
/// another.
class MicroKernel {
public:
  MicroKernel(const Emitter &emit, func::FuncOp function, const Factors &factors, const Level &level,
              const ProductSizes &sizes)
      : emit(emit), factors(factors), element(factors.word()), sizes(sizes),
        laneStride(sizes.laneStride() / sizes.packedBytes), lanes(level.lanes), rows(level.registerRows),
        columns(level.registerColumns), a(function.getArgument(0)), b(function.getArgument(1)),
        c(function.getArgument(2)), depth(function.getArgument(5)), stride(function.getArgument(6)),
        validRows(function.getArgument(7)), validColumns(function.getArgument(8)),
        adds(function.getArgument(9)), strideA(function.getArgument(10)),
        prefetches(this->emit, function, factors, level) {}

  void run() {
    if (factors.pairs)
      depth = emit.divide(emit.add(depth, 1), 2);
    if (sizes.callRows == kPanelRows && sizes.callColumns == kPanelColumns)
      return panels();
    Value endRow = emit.min(emit.i64(sizes.callRows), validRows),
          endColumn = emit.min(emit.i64(sizes.callColumns), validColumns);
    emit.loop(emit.i64(0), endRow, kPanelRows, [&](Value row) {
      emit.loop(emit.i64(0), endColumn, kPanelColumns, [&](Value column) { panelsAt(row, column); });
    });
  }

private:
  /// Multiplies the panels that begin at a row and a column of the call's block.
  void panelsAt(Value row, Value column) {
    MicroKernel kernel(*this);
    kernel.a = emit.pointer(a, element, emit.mul(row, sizes.packsA ? emit.i64(laneStride) : strideA));
    kernel.b = emit.pointer(b, element, emit.mul(column, laneStride));
    kernel.c = emit.pointer(c, element, emit.add(emit.mul(stride, row), column));
    kernel.validRows = emit.sub(validRows, row);
    kernel.validColumns = emit.sub(validColumns, column);
    kernel.panels();
  }

  /// Multiplies a panel of A by one of B.
  void panels() {
    prefetches.before(c);
    // Tiles past the valid columns are not packed.
    Value end = emit.i64(kPanelColumns);
    if (columns < kPanelColumns)
      end = emit.min(end, validColumns);
    emit.loop(emit.i64(0), end, columns, [&](Value column) {
      emit.loop(emit.i64(0), emit.i64(kPanelRows), rows, [&](Value row) { registerTile(row, column); });
    });
  }

  static constexpr int64_t kUnroll = Prefetches::kTerms;

  /// Returns a pointer to the first term of each row of A from `row` on. Rows in place that are not valid are
  /// replaced by the last valid row.
  SmallVector<Value> rowsOfA(Value row) {
    SmallVector<Value> pointers;
    Value last = emit.sub(validRows, emit.i64(1));
    for (int64_t i = 0; i < rows; ++i) {
      Value lane = emit.add(row, i);
      pointers.push_back(
          emit.pointer(a, element, sizes.packsA ? lane : emit.mul(emit.min(lane, last), strideA)));
    }
    return pointers;
  }

  /// sums += a[p, :] b[p, :], for the `count` terms from p on.
  SmallVector<Value> terms(ArrayRef<Value> fromA, Value fromB, Value p, int64_t count, ValueRange carried) {
    SmallVector<Value> sums(carried);
    Value termA = sizes.packsA ? emit.mul(p, kPanelRows) : p;
    fromB = emit.pointer(fromB, element, emit.mul(p, columns));
    for (int64_t u = 0; u < count; ++u) {
      SmallVector<Value> right;
      for (int64_t j = 0; j < columns; j += lanes)
        right.push_back(emit.load({fromB, element, emit.i64(u * columns + j)}, lanes));
      for (int64_t i = 0; i < rows; ++i) {
        const Address at{fromA[i], element, emit.add(termA, sizes.packsA ? u * kPanelRows : u)};
        Value left = emit.splat(emit.load(at), lanes);
        for (auto [j, factor] : llvm::enumerate(right)) {
          Value &sum = sums[i * right.size() + j];
          sum = multiplyAdd(left, factor, sum);
        }
      }
    }
    return sums;
  }

  /// For pairs, both products are added; numbers below 2^-126 are flushed to zero.
  Value multiplyAdd(Value left, Value right, Value sum) {
    if (!factors.pairs)
      return math::FmaOp::create(emit.builder, emit.loc, left, right, sum);
    auto pairs = [&](Value words) -> Value {
      Type type = VectorType::get({2 * lanes}, factors.element);
      return LLVM::BitcastOp::create(emit.builder, emit.loc, type, words);
    };
    auto name = emit.builder.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512");
    return LLVM::CallIntrinsicOp::create(emit.builder, emit.loc, sum.getType(), name,
                                         ValueRange{sum, pairs(left), pairs(right)})
        .getResult(0);
  }

  void registerTile(Value row, Value column) {
    const SmallVector<Value> fromA = rowsOfA(row);
    Value fromB = emit.pointer(b, element, emit.mul(column, laneStride));
    SmallVector<Value> sums(rows * columns / lanes, emit.constant(Emitter::laneType(element, lanes), 0));
    Value whole = emit.mul(emit.divide(depth, kUnroll), kUnroll);
    Value to = emit.pointer(c, element, emit.add(emit.mul(stride, row), column));
    sums = emit.loop(emit.i64(0), whole, kUnroll, sums, [&](Value p, ValueRange carried) {
      prefetches.part(to, p);
      return terms(fromA, fromB, p, kUnroll, carried);
    });
    sums = emit.loop(whole, depth, 1, sums,
                     [&](Value p, ValueRange carried) { return terms(fromA, fromB, p, 1, carried); });
    Value rowsLeft = emit.sub(validRows, row), columnsLeft = emit.sub(validColumns, column);
    Value inside = arith::AndIOp::create(emit.builder, emit.loc, emit.less(emit.i64(rows - 1), rowsLeft),
                                         emit.less(emit.i64(columns - 1), columnsLeft));
    emit.when(inside, [&] {
      for (auto [i, sum] : llvm::enumerate(sums))
        store(sum, to, i / (columns / lanes), i % (columns / lanes) * lanes, Mask());
    });
    Value outside = emit.less(
        emit.min(emit.sub(rowsLeft, emit.i64(rows)), emit.sub(columnsLeft, emit.i64(columns))), emit.i64(0));
    emit.when(outside, [&] { writeEdge(to, sums, rowsLeft, columnsLeft); });
  }

  void writeEdge(Value to, ArrayRef<Value> sums, Value rowsLeft, Value columnsLeft) {
    const int64_t vectors = columns / lanes;
    for (int64_t i = 0; i < rows; ++i)
      emit.when(emit.less(emit.i64(i), rowsLeft), [&] {
        for (int64_t j = 0; j < vectors; ++j)
          store(sums[i * vectors + j], to, i, j * lanes,
                emit.lanesBelow(emit.sub(columnsLeft, emit.i64(j * lanes)), lanes));
      });
  }

  void store(Value sum, Value to, int64_t row, int64_t column, Mask mask) {
    Address at{to, element, emit.add(emit.mul(stride, row), column)};
    Value before = emit.load(at, lanes, mask), none = emit.constant(sum.getType(), 0);
    before = arith::SelectOp::create(emit.builder, emit.loc, emit.less(emit.i64(0), adds), before, none);
    emit.store(emit.add(before, sum), at, mask);
  }

  Emitter emit;
  const Factors factors;
  Type element; // of sums
  const ProductSizes sizes;
  const int64_t laneStride;    // of panels, in words
  const int64_t lanes;         // of a vector
  const int64_t rows, columns; // of a register tile
  Value a, b, c, depth, stride, validRows, validColumns, adds, strideA;
  const Prefetches prefetches;
};

} // namespace

void fma::multiply(Emitter &emit, func::FuncOp function, const Factors &factors, const Level &level,
                   const ProductSizes &sizes) {
  MicroKernel(emit, function, factors, level, sizes).run();
}

ProductSizes fma::sizes(int64_t packedBytes) {
  return {.panelRows = kPanelRows,
          .panelColumns = kPanelColumns,
          .callRows = kPanelRows,
          .callColumns = kPanelColumns,
          .depthBlock = kDepthBlock,
          .tileRows = 256,
          .tileColumns = 384,
          .packedBytes = packedBytes};
}

ProductSizes trainc::codegen::fmaSizes(Type element, LaneOrder a) {
  ProductSizes sizes = fma::sizes(elementBytes(nn::wideElement(element)));
  sizes.packsA = a == LaneOrder::Adjacent || element != nn::wideElement(element);
  return sizes;
}

ProductScheme trainc::codegen::fmaProducts(KernelModule &kernels, Type element, LaneOrder a, LaneOrder b) {
  ProductScheme scheme{fmaSizes(element, a)};
  const Factors factors{element};
  const SmallVector<Type> packing = argumentTypes(kernels.getContext(), 2, 3);
  if (scheme.packsA)
    scheme.packA = internalFunction(
        kernels, packName(element, Side::A, a), packing,
        [&](Emitter &emit, func::FuncOp function) { pack(emit, function, factors, a, kPanelRows, scheme); });
  scheme.packB = functionWithVariants(kernels, packName(element, Side::B, b), packing,
                                      [&](OpBuilder &body, func::FuncOp function, const Level &level) {
                                        Emitter emit(body);
                                        pack(emit, function, factors, b, level.registerColumns, scheme);
                                      });
  const StringRef name = scheme.packsA ? "gemm_micro_kernel" : "gemm_micro_kernel_in_place";
  scheme.multiply = functionWithVariants(kernels, typedName(name, factors.word()),
                                         argumentTypes(kernels.getContext(), 5, 7),
                                         [&](OpBuilder &body, func::FuncOp function, const Level &level) {
                                           Emitter emit(body);
                                           multiply(emit, function, factors, level, scheme);
                                         });
  return scheme;
}
