// Micro-kernel of matrix products, with a variant for each instruction-set level.
#include "dialects/NN/Builders.h"
#include "lib/Codegen/Cpu/FmaProducts.h"
#include "lib/Codegen/Cpu/Levels.h"
#include "lib/Support/StoredElement.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;
using namespace trainc::codegen::fma;

namespace {

/// Builds the body for one level: panel by panel, and within panels one register tile of rows x columns after
/// another.
class MicroKernel {
public:
  MicroKernel(const Emitter &emit, func::FuncOp function, const Factors &factors, const Level &level,
              const ProductSizes &sizes)
      : emit(emit), factors(factors), element(factors.word()), sizes(sizes),
        laneStride(sizes.laneStride() / sizes.packedBytes), lanes(level.lanes), rows(level.registerRows),
        columns(level.registerColumns), a(function.getArgument(0)), b(function.getArgument(1)),
        c(function.getArgument(2)), depth(function.getArgument(3)), stride(function.getArgument(4)),
        validRows(function.getArgument(5)), validColumns(function.getArgument(6)),
        adds(function.getArgument(7)) {}

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
    kernel.a = emit.pointer(a, element, emit.mul(row, laneStride));
    kernel.b = emit.pointer(b, element, emit.mul(column, laneStride));
    kernel.c = emit.pointer(c, element, emit.add(emit.mul(stride, row), column));
    kernel.validRows = emit.sub(validRows, row);
    kernel.validColumns = emit.sub(validColumns, column);
    kernel.panels();
  }

  /// Multiplies a panel of A by one of B.
  void panels() {
    prefetchC();
    // Tiles past the valid columns are not packed.
    Value end = emit.i64(kPanelColumns);
    if (columns < kPanelColumns)
      end = emit.min(end, validColumns);
    emit.loop(emit.i64(0), end, columns, [&](Value column) {
      emit.loop(emit.i64(0), emit.i64(kPanelRows), rows, [&](Value row) { registerTile(row, column); });
    });
  }

  static constexpr int64_t kUnroll = 4;

  /// Prefetches the rows of C, which are needed after the products.
  void prefetchC() {
    for (int64_t row = 0; row < kPanelRows; ++row)
      for (int64_t column = 0; column < kPanelColumns; column += kLineBytes / elementBytes(element)) {
        emit.prefetch(emit.pointer(c, element, emit.add(emit.mul(stride, row), column)), /*forWrite=*/true);
      }
  }

  /// sums += a[p, :] b[p, :], for the `count` terms from p on.
  SmallVector<Value> terms(Value fromA, Value fromB, Value p, int64_t count, ValueRange carried) {
    SmallVector<Value> sums(carried);
    fromA = emit.pointer(fromA, element, emit.mul(p, kPanelRows));
    fromB = emit.pointer(fromB, element, emit.mul(p, columns));
    for (int64_t u = 0; u < count; ++u) {
      SmallVector<Value> right;
      for (int64_t j = 0; j < columns; j += lanes)
        right.push_back(emit.load({fromB, element, emit.i64(u * columns + j)}, lanes));
      for (int64_t i = 0; i < rows; ++i) {
        Value left = emit.splat(emit.load({fromA, element, emit.i64(u * kPanelRows + i)}), lanes);
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
    Value fromA = emit.pointer(a, element, row),
          fromB = emit.pointer(b, element, emit.mul(column, laneStride));
    SmallVector<Value> sums(rows * columns / lanes, emit.constant(Emitter::laneType(element, lanes), 0));
    Value whole = emit.mul(emit.divide(depth, kUnroll), kUnroll);
    sums = emit.loop(emit.i64(0), whole, kUnroll, sums,
                     [&](Value p, ValueRange carried) { return terms(fromA, fromB, p, kUnroll, carried); });
    sums = emit.loop(whole, depth, 1, sums,
                     [&](Value p, ValueRange carried) { return terms(fromA, fromB, p, 1, carried); });
    Value to = emit.pointer(c, element, emit.add(emit.mul(stride, row), column));
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
  Value a, b, c, depth, stride, validRows, validColumns, adds;
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

ProductSizes trainc::codegen::fmaSizes(Type element) {
  return fma::sizes(elementBytes(nn::wideElement(element)));
}

ProductScheme trainc::codegen::fmaProducts(KernelModule &kernels, Type element, LaneOrder a, LaneOrder b) {
  ProductScheme scheme{fmaSizes(element)};
  const Factors factors{element};
  const SmallVector<Type> packing = argumentTypes(kernels.getContext(), 2, 3);
  scheme.packA = internalFunction(
      kernels, packName(element, Side::A, a), packing,
      [&](Emitter &emit, func::FuncOp function) { pack(emit, function, factors, a, kPanelRows, scheme); });
  scheme.packB = functionWithVariants(kernels, packName(element, Side::B, b), packing,
                                      [&](OpBuilder &body, func::FuncOp function, const Level &level) {
                                        Emitter emit(body);
                                        pack(emit, function, factors, b, level.registerColumns, scheme);
                                      });
  scheme.multiply = functionWithVariants(kernels, typedName("gemm_micro_kernel", factors.word()),
                                         argumentTypes(kernels.getContext(), 3, 5),
                                         [&](OpBuilder &body, func::FuncOp function, const Level &level) {
                                           Emitter emit(body);
                                           multiply(emit, function, factors, level, scheme);
                                         });
  return scheme;
}
