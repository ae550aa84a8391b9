// Short forms for the arith, vector and llvm ops that kernels are made of.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace trainc::codegen {

/// What elements are loaded and stored as: i1 as i8, and bf16 and f16 as i16, as LLVM has few operations on
/// vectors of them; numbers of fp8 as i8, as LLVM has none.
mlir::Type memoryElement(mlir::Type element);

/// A place in memory: an element of a row-major buffer.
struct Address {
  mlir::Value base;   ///< llvm pointer
  mlir::Type element; ///< of the values; i1 lies in memory as a byte
  mlir::Value index;  ///< i64, in elements
};

/// The widest access of a GPU's thread.
inline constexpr int64_t kAccessBytes = 16;

/// A mask of the lanes below some count; empty for all lanes.
using Mask = mlir::Value;

/// Builds ops at the insertion point of `builder`. Vectors have `lanes` lanes, scalars lanes = 0.
class Emitter {
public:
  explicit Emitter(mlir::OpBuilder &builder) : builder(builder), loc(builder.getUnknownLoc()) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// Whether vectors in memory lie on borders of their size, or of 16 bytes, and not of their elements'.
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
  /// Non-negative operands.
  mlir::Value divide(mlir::Value a, int64_t b);
  mlir::Value remainder(mlir::Value a, int64_t b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  mlir::Value less(mlir::Value a, mlir::Value b);

  mlir::Value splat(mlir::Value scalar, int64_t lanes);
  /// The transpose of a square of n vectors of n lanes, n a power of two.
  llvm::SmallVector<mlir::Value> transposed(llvm::SmallVector<mlir::Value> rows);
  /// i64 vector 0, 1, 2, ...
  mlir::Value lanesIota(int64_t lanes);
  /// Lanes below `count` (i64).
  Mask lanesBelow(mlir::Value count, int64_t lanes);

  mlir::Value pointer(mlir::Value base, mlir::Type element, mlir::Value index);
  /// Loads a scalar (lanes = 0) or a vector; masked-off lanes are zero and not touched. Numbers of bf16 and
  /// f16 become f32; those of fp8 stay what they are.
  mlir::Value load(const Address &from, int64_t lanes = 0, Mask mask = {});
  /// Rounds f32 to bf16 and f16.
  void store(mlir::Value value, const Address &to, Mask mask = {});

  /// A number that was computed for `element`, as one of its numbers: for bf16 and f16 it is rounded to
  /// nearest even, and held as f32.
  mlir::Value rounded(mlir::Value value, mlir::Type element);

  /// Asks for the cache line at `pointer`, which may be past the end of a buffer.
  void prefetch(mlir::Value pointer, bool forWrite = false);

  /// `count` elements on the stack, 64-byte aligned; call with the insertion point in the function's entry
  /// block.
  mlir::Value stackArray(mlir::Type element, int64_t count);

  /// for i = begin to end step step, i64. `body` gets i and the carried values and returns the next ones.
  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> loop(mlir::Value begin, mlir::Value end, int64_t step,
                                      mlir::ValueRange carried, LoopBody body);
  void loop(mlir::Value begin, mlir::Value end, int64_t step, llvm::function_ref<void(mlir::Value)> body);
  void when(mlir::Value condition, llvm::function_ref<void()> body);

private:
  /// The bits of a held number of bf16 or f16, i16.
  mlir::Value shortBits(mlir::Value value, mlir::Type element);
  unsigned alignmentOf(mlir::Type memory, int64_t lanes) const;
};

} // namespace trainc::codegen
