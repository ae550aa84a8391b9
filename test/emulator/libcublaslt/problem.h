// A matrix product with its full description, and the restrictions of cuBLASLt.
#pragma once

#include "test/emulator/libcublaslt/descriptors.h"

#include <optional>
#include <string>

namespace trainc::emulator {

struct Problem {
  Operation operation;
  Layout a, b, c, d;

  uint64_t rows() const { return d.rows; }
  uint64_t columns() const { return d.columns; }
  /// Number of products per sum.
  bool isOfFp8() const { return isFp8(a.type) || isFp8(b.type); }
  uint64_t depth() const { return operation.transposeA == CUBLAS_OP_N ? a.columns : a.rows; }
};

struct Refusal {
  cublasStatus_t status;
  std::string text;
};

/// Error or missing support of a problem on a GPU of this capability, such as 90 for 9.0; does not check
/// operand pointers.
std::optional<Refusal> check(const Problem &problem, int capability);

/// Hash that identifies the problem of an algorithm.
uint64_t identityOf(const Problem &problem);

} // namespace trainc::emulator
