// The CPU's matrix unit (Intel AMX): eight tile registers of 16 rows with 64 bytes each.
#pragma once

#include "lib/Codegen/Kernels/Emitter.h"

namespace trainc::codegen {

/// Rows of a tile, and 4-byte elements of a row.
inline constexpr int64_t kUnitRows = 16;
inline constexpr int64_t kTileBytes = 4 * kUnitRows * kUnitRows;
/// Number of terms that one instruction sums.
inline constexpr int64_t kStepTerms = 2 * kUnitRows;

/// Builds the unit's instructions. Tiles are numbered 0 to 7. A thread must configure them before use and
/// release them afterwards, which takes some hundred cycles.
class MatrixUnit {
public:
  explicit MatrixUnit(Emitter &emit) : emit(emit) {}

  /// Configures all tiles with their full size.
  void configure();
  void release();

  void zero(int64_t tile);
  /// `stride` is the bytes between rows (i64).
  void load(int64_t tile, mlir::Value from, mlir::Value stride);
  void store(int64_t tile, mlir::Value to, mlir::Value stride);
  /// sums += a b: 16 x 16 f32, summed over 32 terms. a is [row][pair of terms] and b is [pair of
  /// terms][column], pairs of bf16.
  void multiplyAdd(int64_t sums, int64_t a, int64_t b);

private:
  mlir::Value number(int64_t tile);
  void call(llvm::StringRef name, mlir::ValueRange args);

  Emitter &emit;
};

} // namespace trainc::codegen
