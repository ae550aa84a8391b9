// Products of rows in a block's memory. Tensor cores load their factors by ldmatrix.
#include "lib/Codegen/Cuda/WarpProducts.h"

#include "dialects/NN/Builders.h"
#include "lib/Codegen/Kernels/Threads.h"
#include "lib/Support/StoredElement.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;
using namespace trainc::codegen::cuda;

/// Number of terms that one tensor-core instruction sums.
static constexpr int64_t kTerms = 16;

static int64_t paddedWidth(Type element, int64_t width) {
  return llvm::alignTo(width, nn::isLowPrecision(element) ? kTerms : kStripColumns);
}

/// Rows are an odd number of accesses apart, so that eight of them begin in different banks.
static int64_t strideOf(Type element, int64_t width) {
  return paddedWidth(element, width) + kAccessBytes / elementBytes(element);
}

WarpProducts::WarpProducts(KernelFunction &function, Type element)
    : emit(function.emit()), function(function), element(element), sumElement(nn::wideElement(element)) {
  lane = emit.remainder(function.thread(), kWarp);
  warpRow = emit.mul(emit.divide(function.thread(), kWarp), kWarpRows);
  firstRow = emit.add(warpRow, emit.divide(lane, 4));
  firstColumn = emit.mul(emit.remainder(lane, 4), 2);
}

HeldRows WarpProducts::array(int64_t rows, int64_t width) {
  const int64_t stride = strideOf(element, width);
  return {function.blockArray(element, rows * stride), rows, paddedWidth(element, width), stride};
}

int64_t WarpProducts::arrayBytes(Type element, int64_t rows, int64_t width) {
  return blockArrayBytes(element, rows * strideOf(element, width));
}

int64_t WarpProducts::strips(Type element, int64_t width) {
  return paddedWidth(element, width) / kStripColumns;
}

Parts WarpProducts::zeros(int64_t strips) { return Parts(strips * 4, emit.constant(sumElement, 0)); }

int64_t WarpProducts::lanes() const { return kAccessBytes / elementBytes(element); }

Parts WarpProducts::scores(const HeldRows &own, const HeldRows &other) {
  return usesTensorCores() ? scoresOfTensorCores(own, other) : scoresOfThreads(own, other);
}

Parts WarpProducts::accumulate(ValueRange sums, ValueRange weights, const HeldRows &other) {
  return usesTensorCores() ? accumulateOnTensorCores(sums, weights, other)
                           : accumulateOnThreads(sums, weights, other);
}

// --- Tensor cores ---

SmallVector<Value> WarpProducts::squares(const HeldRows &rows, Value row, Value column, bool transposed) {
  OpBuilder &builder = emit.builder;
  Type i32 = builder.getI32Type(),
       shared = LLVM::LLVMPointerType::get(builder.getContext(), unsigned(NVVM::NVVMMemorySpace::Shared));
  Value address = emit.pointer(rows.base, element, emit.add(emit.mul(row, rows.stride), column));
  address = LLVM::AddrSpaceCastOp::create(builder, emit.loc, shared, address);
  auto four = LLVM::LLVMStructType::getLiteral(builder.getContext(), {i32, i32, i32, i32});
  Value loaded = NVVM::LdMatrixOp::create(
      builder, emit.loc, four, address, /*num=*/4, transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> registers;
  for (int64_t i = 0; i < 4; ++i)
    registers.push_back(LLVM::ExtractValueOp::create(builder, emit.loc, loaded, i));
  return registers;
}

Value WarpProducts::packed(Value first, Value second) {
  OpBuilder &builder = emit.builder;
  Value wide = vector::FromElementsOp::create(builder, emit.loc, Emitter::laneType(sumElement, 2),
                                              ValueRange{first, second});
  Value narrow = arith::TruncFOp::create(builder, emit.loc, Emitter::laneType(element, 2), wide);
  return LLVM::BitcastOp::create(builder, emit.loc, builder.getI32Type(), narrow);
}

/// sums += left right, for one strip.
void WarpProducts::multiply(ArrayRef<Value> left, ArrayRef<Value> right, MutableArrayRef<Value> sums) {
  OpBuilder &builder = emit.builder;
  const bool isBf16 = element.isBF16();
  auto factors = [&](ArrayRef<Value> registers) {
    SmallVector<Value> values(registers);
    if (!isBf16) // only the bf16 instruction takes the i32 registers as they are
      for (Value &value : values)
        value = LLVM::BitcastOp::create(builder, emit.loc, Emitter::laneType(element, 2), value);
    return values;
  };
  auto four = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(4, sumElement));
  const auto type = isBf16 ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
  Value result =
      NVVM::MmaOp::create(builder, emit.loc, four, factors(left), factors(right), sums,
                          {kWarpRows, kStripColumns, kTerms}, std::nullopt, std::nullopt,
                          std::array{type, type}, std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  for (auto [index, sum] : llvm::enumerate(sums))
    sum = LLVM::ExtractValueOp::create(builder, emit.loc, result, int64_t(index));
}

Parts WarpProducts::scoresOfTensorCores(const HeldRows &own, const HeldRows &other) {
  // The squares of `own` are its upper rows, its lower rows, and both for the next eight terms. Those of
  // `other` are eight rows, their next terms, and the same for the next eight rows.
  Value ownRow = emit.add(warpRow, emit.remainder(lane, 16)), ownTerm = emit.mul(emit.divide(lane, 16), 8);
  Value otherRow = emit.add(emit.mul(emit.divide(lane, 16), 8), emit.remainder(lane, 8)),
        otherTerm = emit.mul(emit.remainder(emit.divide(lane, 8), 2), 8);
  return emit.loop(emit.i64(0), emit.i64(own.width), kTerms, zeros(other.count / kStripColumns),
                   [&](Value term, ValueRange before) {
                     Parts sums(before);
                     SmallVector<Value> left = squares(own, ownRow, emit.add(ownTerm, term), false);
                     for (int64_t row = 0; row < other.count; row += 2 * kStripColumns) {
                       SmallVector<Value> right =
                           squares(other, emit.add(otherRow, row), emit.add(otherTerm, term), false);
                       for (int64_t i = 0; i < 2; ++i)
                         multiply(left, ArrayRef(right).slice(2 * i, 2),
                                  MutableArrayRef(sums).slice((row / kStripColumns + i) * 4, 4));
                     }
                     return sums;
                   });
}

/// The layout of one product's sums is that of the next product's left factor.
Parts WarpProducts::accumulateOnTensorCores(ValueRange before, ValueRange weights, const HeldRows &other) {
  Parts sums(before);
  Value row = emit.remainder(lane, 16), column = emit.mul(emit.divide(lane, 16), 8);
  for (int64_t term = 0; term < other.count; term += kTerms) {
    SmallVector<Value> left;
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t pair = (term / kStripColumns) * 4 + 2 * i;
      left.push_back(packed(weights[pair], weights[pair + 1]));
    }
    for (int64_t strip = 0; strip < other.width / kStripColumns; strip += 2) {
      SmallVector<Value> right =
          squares(other, emit.add(row, term), emit.add(column, strip * kStripColumns), true);
      for (int64_t i = 0; i < 2; ++i)
        multiply(left, ArrayRef(right).slice(2 * i, 2), MutableArrayRef(sums).slice((strip + i) * 4, 4));
    }
  }
  return sums;
}

// --- Multiply-adds of threads ---

Parts WarpProducts::scoresOfThreads(const HeldRows &own, const HeldRows &other) {
  OpBuilder &builder = emit.builder;
  auto terms = [&](const HeldRows &rows, Value row, Value term) {
    Value loaded = emit.load({rows.base, element, emit.add(emit.mul(row, rows.stride), term)}, lanes());
    SmallVector<Value> each;
    for (int64_t i = 0; i < lanes(); ++i)
      each.push_back(vector::ExtractOp::create(builder, emit.loc, loaded, i));
    return each;
  };
  return emit.loop(emit.i64(0), emit.i64(own.width), lanes(), zeros(other.count / kStripColumns),
                   [&](Value term, ValueRange before) {
                     Parts sums(before);
                     const SmallVector<Value> left[] = {terms(own, row(0), term), terms(own, row(1), term)};
                     for (int64_t strip = 0; strip < other.count / kStripColumns; ++strip)
                       for (int64_t side = 0; side < 2; ++side) {
                         SmallVector<Value> right =
                             terms(other, emit.add(firstColumn, strip * kStripColumns + side), term);
                         for (int64_t half = 0; half < 2; ++half)
                           for (auto [a, b] : llvm::zip_equal(left[half], right)) {
                             Value &sum = sums[strip * 4 + half * 2 + side];
                             sum = math::FmaOp::create(builder, emit.loc, a, b, sum);
                           }
                       }
                     return sums;
                   });
}

/// Each weight is read from the thread of the group that has it.
Parts WarpProducts::accumulateOnThreads(ValueRange before, ValueRange weights, const HeldRows &other) {
  OpBuilder &builder = emit.builder;
  Parts sums(before);
  Value group = emit.sub(lane, emit.remainder(lane, 4));
  for (int64_t strip = 0; strip < other.count / kStripColumns; ++strip)
    sums = emit.loop(emit.i64(0), emit.i64(4), 1, sums, [&](Value thread, ValueRange carried) {
      Parts next(carried);
      Value from = emit.add(group, thread);
      for (int64_t side = 0; side < 2; ++side) {
        Value row = emit.add(emit.mul(thread, 2), strip * kStripColumns + side);
        Value start = emit.add(emit.mul(row, other.stride), firstColumn);
        const Value factors[] = {fromLane(emit, weights[strip * 4 + side], from),
                                 fromLane(emit, weights[strip * 4 + 2 + side], from)};
        for (int64_t column = 0; column < other.width; column += kStripColumns) {
          Value pair = emit.load({other.base, element, emit.add(start, column)}, 2);
          for (int64_t i = 0; i < 4; ++i) {
            Value right = vector::ExtractOp::create(builder, emit.loc, pair, i % 2);
            Value &sum = next[column / kStripColumns * 4 + i];
            sum = math::FmaOp::create(builder, emit.loc, factors[i / 2], right, sum);
          }
        }
      }
      return next;
    });
  return sums;
}
