// The operands of library calls: which bytes each one covers.
#pragma once

#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <vector>

namespace trainc {

/// Places of a matrix product's operands in libraryOperands().
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

/// Places of attention's operands in libraryOperands().
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

/// Bytes at equal distances: `rows` runs of `rowBytes`, `rowStride` apart, and that `matrices` times,
/// `matrixStride` apart.
struct StridedBytes {
  uint64_t rowBytes;
  uint64_t rows = 1, rowStride = 0;
  uint64_t matrices = 1, matrixStride = 0;

  /// From the first byte to the last.
  uint64_t hull() const { return (matrices - 1) * matrixStride + (rows - 1) * rowStride + rowBytes; }
  /// Rows with their padding (row_padding.h).
  StridedBytes padded() const;
  /// The runs that are left where those that touch are one.
  StridedBytes joined() const;
};

/// An operand of a library call. `operand` is null where the call has none; `anyType`: whatever its buffer
/// is of.
struct LibraryOperand {
  const char *name;
  const fb::Operand *operand;
  bool reads, writes;
  fb::DType dtype;
  bool anyType;
  StridedBytes bytes; ///< of its numbers: without padding
};

/// Whether the instruction is a library call.
bool isLibraryCall(const fb::Instruction &instruction);

/// All operands that such a call may have, in the order of ProductOperand or AttentionOperand; none of other
/// instructions. Bytes are right where the call's sizes are checked.
std::vector<LibraryOperand> libraryOperands(const fb::Instruction &instruction);

/// The type of a matrix product's b; that of its a is `factors`.
fb::DType factorsOfB(const fb::MatrixProduct &product);

/// Whether the plan multiplies numbers of one byte, which GPUs do from compute capability 8.9 on.
bool multipliesF8(const fb::Plan &plan);

/// Whether the plan leaves gradients of attention to a library.
bool hasLibraryGradient(const fb::Plan &plan);

/// "matrix product", "attention", "gradient of attention".
const char *libraryCallName(const fb::Instruction &instruction);

/// Multiplications and additions of a checked call.
double libraryFlops(const fb::Instruction &instruction);

/// "gelu", "gelu_tanh", ...
const char *activationName(fb::Activation activation);

/// "result", "a", "b", or "none".
const char *sideSumName(fb::SideSum sum);

} // namespace trainc
