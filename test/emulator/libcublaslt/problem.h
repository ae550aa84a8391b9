// One product with all that describes it, and what cuBLASLt does not do.
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
  /// Products in a sum.
  bool isOfFp8() const { return isFp8(a.type) || isFp8(b.type); }
  uint64_t depth() const { return operation.transposeA == CUBLAS_OP_N ? a.columns : a.rows; }
};

struct Refusal {
  cublasStatus_t status;
  std::string text;
};

/// What is wrong with a problem, or not supported on a GPU of this capability, such as 90 for 9.0; pointers
/// of operands are not looked at.
std::optional<Refusal> check(const Problem &problem, int capability);

/// Tells problems apart, for the algorithm that belongs to one.
uint64_t identityOf(const Problem &problem);

} // namespace trainc::emulator
