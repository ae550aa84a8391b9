// Shorthand for arith, vector and llvm ops of kernels.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace trainc::codegen {

/// Returns the type in which elements are loaded and stored: i8 for i1; i16 for bf16 and f16, because LLVM
/// has few vector operations on them; i8 for fp8, which LLVM lacks.
mlir::Type memoryElement(mlir::Type element);

/// An element of a row-major buffer in memory.
struct Address {
  mlir::Value base;   ///< llvm pointer
  mlir::Type element; ///< of the values; i1 is a byte in memory
  mlir::Value index;  ///< i64, in elements
};

/// Maximum bytes of one memory access of a GPU thread.
inline constexpr int64_t kAccessBytes = 16;

/// A mask of the lanes below some count; null for all lanes.
using Mask = mlir::Value;

/// Builds ops at the insertion point of `builder`. Vectors have `lanes` lanes; lanes = 0 means a scalar.
class Emitter {
public:
  explicit Emitter(mlir::OpBuilder &builder) : builder(builder), loc(builder.getUnknownLoc()) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// Whether vectors in memory are aligned to their size or 16 bytes, instead of their element size.
  bool alignsVectors = false;

  mlir::Type pointerType() const;
  static mlir::Type laneType(mlir::Type element, int64_t lanes);

  mlir::Value i64(int64_t value);
  mlir::Value constant(mlir::Type type, double value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t b);
  /// Both require non-negative operands.
  mlir::Value divide(mlir::Value a, int64_t b);
  mlir::Value remainder(mlir::Value a, int64_t b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  mlir::Value less(mlir::Value a, mlir::Value b);

  mlir::Value splat(mlir::Value scalar, int64_t lanes);
  /// Transposes a square of n vectors with n lanes; n must be a power of two.
  llvm::SmallVector<mlir::Value> transposed(llvm::SmallVector<mlir::Value> rows);
  /// Returns the i64 vector 0, 1, 2, ...
  mlir::Value lanesIota(int64_t lanes);
  /// Returns the mask of lanes below `count` (i64).
  Mask lanesBelow(mlir::Value count, int64_t lanes);

  mlir::Value pointer(mlir::Value base, mlir::Type element, mlir::Value index);
  /// Loads a scalar (lanes = 0) or a vector. Masked-off lanes are zero and not accessed. bf16 and f16 are
  /// widened to f32; fp8 is not converted.
  mlir::Value load(const Address &from, int64_t lanes = 0, Mask mask = {});
  /// Stores a value; f32 is rounded to bf16 and f16.
  void store(mlir::Value value, const Address &to, Mask mask = {});

  /// Rounds a number to `element` (nearest even) if it is bf16 or f16; the result is still an f32 value.
  mlir::Value rounded(mlir::Value value, mlir::Type element);

  /// Prefetches the cache line at `pointer`, which may be past the end of a buffer.
  void prefetch(mlir::Value pointer, bool forWrite = false);

  /// Allocates `count` elements on the stack, 64-byte aligned. The insertion point must be in the function's
  /// entry block.
  mlir::Value stackArray(mlir::Type element, int64_t count);

  /// Builds for i = begin to end step step, i64. `body` gets i and the carried values and returns their next
  /// values.
  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> loop(mlir::Value begin, mlir::Value end, int64_t step,
                                      mlir::ValueRange carried, LoopBody body);
  void loop(mlir::Value begin, mlir::Value end, int64_t step, llvm::function_ref<void(mlir::Value)> body);
  void when(mlir::Value condition, llvm::function_ref<void()> body);

private:
  /// Returns the bits of a bf16 or f16 number, i16.
  mlir::Value shortBits(mlir::Value value, mlir::Type element);
  unsigned alignmentOf(mlir::Type memory, int64_t lanes) const;
};

} // namespace trainc::codegen
