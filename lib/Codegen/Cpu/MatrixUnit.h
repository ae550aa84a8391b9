// The CPU's matrix unit (Intel AMX): eight tile registers of 16 rows of 64 bytes.
#pragma once

#include "lib/Codegen/Kernels/Emitter.h"

namespace trainc::codegen {

/// Rows of a tile, and elements of 4 bytes in a row.
inline constexpr int64_t kUnitRows = 16;
inline constexpr int64_t kTileBytes = 4 * kUnitRows * kUnitRows;
/// Terms that one instruction adds up.
inline constexpr int64_t kStepTerms = 2 * kUnitRows;

/// Builds the unit's instructions. Tiles are numbered 0 to 7; a thread configures them before it uses them
/// and releases them when done, which costs some hundred cycles.
class MatrixUnit {
public:
  explicit MatrixUnit(Emitter &emit) : emit(emit) {}

  /// All tiles at full size.
  void configure();
  void release();

  void zero(int64_t tile);
  /// `stride`: bytes from row to row (i64).
  void load(int64_t tile, mlir::Value from, mlir::Value stride);
  void store(int64_t tile, mlir::Value to, mlir::Value stride);
  /// sums += a b: 16 x 16 f32, the sum over 32 terms. a: [row][pair of terms] and b: [pair of terms][column],
  /// pairs of bf16.
  void multiplyAdd(int64_t sums, int64_t a, int64_t b);

private:
  mlir::Value number(int64_t tile);
  void call(llvm::StringRef name, mlir::ValueRange args);

  Emitter &emit;
};

} // namespace trainc::codegen
