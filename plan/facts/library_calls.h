// Operands of library calls, and the bytes that each covers.
#pragma once

#include "plan/schema/plan_generated.h"

#include <cstdint>
#include <vector>

namespace trainc {

/// Indices of a matrix product's operands in libraryOperands().
enum ProductOperand : uint32_t {
  kFactorA,
  kFactorB,
  kProduct,
  kBias,
  kAuxiliary,
  kSideSums,
  kScaleA,
  kScaleB,
  kProductWorkspace,
  kProductOperands
};

/// Indices of attention's operands in libraryOperands().
enum AttentionOperand : uint32_t {
  kQuery,
  kKey,
  kValue,
  kOut,
  kLogSumExp,
  kSegments,
  kLimit,
  kOutGradient,
  kQueryGradient,
  kKeyGradient,
  kValueGradient,
  kAttentionWorkspace,
  kAttentionOperands
};

/// A strided set of bytes: `rows` runs of `rowBytes`, `rowStride` apart, repeated `matrices` times,
/// `matrixStride` apart.
struct StridedBytes {
  uint64_t rowBytes;
  uint64_t rows = 1, rowStride = 0;
  uint64_t matrices = 1, matrixStride = 0;

  /// Size from the first byte to the last.
  uint64_t hull() const { return (matrices - 1) * matrixStride + (rows - 1) * rowStride + rowBytes; }
  /// Size without gaps.
  uint64_t occupied() const { return rowBytes * rows * matrices; }
  /// The rows including their padding (row_padding.h).
  StridedBytes padded() const;
  /// The same bytes with adjacent runs merged.
  StridedBytes joined() const;
};

/// An operand of a library call. `operand` is null if absent; `anyType` accepts any element type.
struct LibraryOperand {
  const char *name;
  const fb::Operand *operand;
  bool reads, writes;
  fb::DType dtype;
  bool anyType;
  StridedBytes bytes; ///< without padding
};

/// Whether the instruction is a library call.
bool isLibraryCall(const fb::Instruction &instruction);

/// All possible operands of a library call, in the order of ProductOperand or AttentionOperand; empty for
/// other instructions. Their bytes are valid only after the call's sizes were checked.
std::vector<LibraryOperand> libraryOperands(const fb::Instruction &instruction);

/// Element type of a matrix product's b; that of a is `factors`.
fb::DType factorsOfB(const fb::MatrixProduct &product);

/// Whether the plan multiplies fp8 numbers, which needs GPUs of compute capability 8.9 or higher.
bool multipliesF8(const fb::Plan &plan);

/// Whether a library computes gradients of attention in the plan.
bool hasLibraryGradient(const fb::Plan &plan);

/// "matrix product", "attention", "gradient of attention".
const char *libraryCallName(const fb::Instruction &instruction);

/// FLOPs of a checked call; multiply and add counted separately.
double libraryFlops(const fb::Instruction &instruction);

} // namespace trainc
