// Splitting of a kernel into several, each of which computes a piece of its results.
#pragma once

#include "dialects/NN/NN.h"

#include <optional>

namespace trainc {

/// Splits a kernel along its slowest positions (row-major over rows x columns). Each piece computes its
/// elements from the same numbers as the whole kernel.
class KernelPieces {
public:
  /// Returns none if elements depend on elements of another piece, or on their position.
  static std::optional<KernelPieces> of(nn::KernelOp kernel);

  /// Divisor of a piece's number of positions, so that pieces of split tensors consist of whole rows.
  int64_t granule() const { return granule_; }
  int64_t positions() const { return positions_; }

  // For an argument of the kernel's body, or a yielded value:
  /// Whether a piece has a piece of the value; otherwise it has all of it.
  bool isCut(mlir::Value inner) const;
  /// Number of elements of a split value in `positions` positions.
  int64_t elementsIn(mlir::Value inner, int64_t positions) const;
  mlir::RankedTensorType pieceType(mlir::Value inner, int64_t positions) const;

  /// Builds the kernel of one piece of `positions` positions. `operands` are the kernel's operands, split
  /// ones as pieces.
  nn::KernelOp build(mlir::OpBuilder &builder, int64_t positions, mlir::ValueRange operands) const;

private:
  explicit KernelPieces(nn::KernelOp kernel)
      : kernel_(kernel), positions_(int64_t(kernel.getRows()) * int64_t(kernel.getColumns())) {}
  bool find();
  bool addValue(mlir::Value inner);
  nn::RepeatPattern patternOf(mlir::Value inner) const;
  bool computesPieces(mlir::Operation &op) const;
  nn::RepeatPattern patternIn(const nn::RepeatPattern &pattern, int64_t positions) const;
  void retypeBody(nn::KernelOp piece, int64_t positions) const;

  nn::KernelOp kernel_;
  int64_t positions_, granule_ = 1;
};

} // namespace trainc
