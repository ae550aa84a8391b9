// Operations on the sums of a product before they are stored.
#pragma once

#include "test/emulator/libcublaslt/matrix.h"
#include "test/emulator/libcublaslt/problem.h"

#include <vector>

namespace trainc::emulator {

/// Applies an epilogue, one batch after the other, with its vector and auxiliary matrix in memory.
class Epilogue {
public:
  explicit Epilogue(const Problem &problem);

  std::optional<std::string> whyNot() const;
  void begin(size_t batch);
  /// The value to store for a scaled sum.
  float apply(size_t row, size_t column, float value);
  /// Stores the side sums: of a factor, line by line, or of the results.
  void end(const Matrix &opA, const Matrix &opB, size_t depth);
  void noteWritten() const;

private:
  bool maskBit(size_t row, size_t column) const;
  void setMaskBit(size_t row, size_t column, bool isSet) const;

  EpilogueParts parts_;
  std::optional<Matrices> bias_, aux_;
  bool isMask_;
  Matrix biasNow_{}, auxNow_{}; ///< of the current batch
  std::vector<float> sums_;     ///< of results, by row
};

/// The tanh approximation, as cuBLASLt has it, and its derivative.
float gelu(float x);
float geluGradient(float x);

} // namespace trainc::emulator
