// A kernel as several, each of which computes a piece of its results.
#pragma once

#include "dialects/NN/NN.h"

#include <optional>

namespace trainc {

/// How a kernel can be cut along its slowest positions (row-major over rows x columns), so that each piece
/// computes the elements that it has in common with the whole, from the same numbers.
class KernelPieces {
public:
  /// None if elements depend on others of another piece, or on where they stand.
  static std::optional<KernelPieces> of(nn::KernelOp kernel);

  /// Positions in which pieces must be counted: those of each cut tensor's pieces are then whole rows.
  int64_t granule() const { return granule_; }
  int64_t positions() const { return positions_; }

  // Of an argument of the kernel's body, or of what that yields:
  /// Whether a piece has a piece of it; else all of it.
  bool isCut(mlir::Value inner) const;
  /// Elements of a cut one in so many positions.
  int64_t elementsIn(mlir::Value inner, int64_t positions) const;
  mlir::RankedTensorType pieceType(mlir::Value inner, int64_t positions) const;

  /// The piece of so many positions. `operands` are the kernel's, pieces where they are cut.
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
