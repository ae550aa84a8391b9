// Splitting of a kernel into several, each of which computes a piece of its results.
#pragma once

#include "dialects/NN/NN.h"

#include <optional>

namespace trainc {

/// Splits a kernel into ranges of its positions, in row-major order over rows x columns. Each piece computes
/// its elements from the same numbers as the whole kernel.
class KernelPieces {
public:
  /// Returns none if an element depends on elements of another piece, or on its own position.
  static std::optional<KernelPieces> of(nn::KernelOp kernel);

  /// Number that divides the positions of each piece, so that pieces of split tensors consist of whole rows.
  int64_t granule() const { return granule_; }
  int64_t positions() const { return positions_; }

  // For an argument of the kernel's body, or a yielded value:
  /// Whether the value is split among the pieces of the kernel; otherwise each has the whole value.
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
