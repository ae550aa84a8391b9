// A value of the reference interpreter.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace trainc::reference {

/// A row-major array of static shape. Floats of every type are stored as float64. Elements of bf16, f16 and
/// fp8 tensors are rounded once, to nearest even, when an op returns them; f32 and f64 are not rounded.
/// Integers of every width (including i1, as 0 and 1) are stored as int64.
class Tensor {
public:
  /// Creates zeros of that type.
  explicit Tensor(mlir::RankedTensorType type);
  /// Creates zeros of the type of `value`, a static tensor.
  explicit Tensor(mlir::Value value) : Tensor(mlir::cast<mlir::RankedTensorType>(value.getType())) {}
  /// Creates a tensor from a literal, which may differ from `type` in element type but not in shape.
  Tensor(mlir::RankedTensorType type, mlir::DenseElementsAttr literal);

  mlir::RankedTensorType type() const { return type_; }
  llvm::ArrayRef<int64_t> shape() const { return type_.getShape(); }
  int64_t rank() const { return type_.getRank(); }
  /// Size of dimension `dim`; negative dimensions count from the end.
  int64_t dim(int64_t dim) const { return shape()[dim < 0 ? dim + rank() : dim]; }
  int64_t elements() const { return type_.getNumElements(); }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(type_.getElementType()); }

  /// Elements of a float tensor; empty for integers.
  std::vector<double> reals;
  /// Elements of an integer tensor; empty for floats.
  std::vector<int64_t> integers;

  /// Returns the element at a row-major position as a real number.
  double real(int64_t position) const { return isFloat() ? reals[position] : double(integers[position]); }
  /// Stores an integer, wrapped to the width of the element type.
  void setInteger(int64_t position, int64_t number);
  /// Stores a number in a tensor of any type; integers are truncated.
  void setNumber(int64_t position, double number);
  /// Rounds all elements to the element type if it is bf16, f16 or fp8.
  void roundShortNumbers();
  /// Copies one element of a tensor of the same element type.
  void copyElement(int64_t position, const Tensor &from, int64_t fromPosition);
  /// Returns the same elements in row-major order with another type of as many elements.
  Tensor withType(mlir::RankedTensorType type) const;

private:
  mlir::RankedTensorType type_;
};

using Tensors = std::vector<Tensor>;

/// Whether tensors of this element type are rounded: bf16, f16 and fp8.
bool isShort(mlir::Type element);
/// Rounds to the nearest number of a narrower float type, ties to even. fp8 saturates.
double roundTo(mlir::FloatType type, double number);
double roundTo(mlir::FloatType type, int64_t number);

/// Returns row-major strides in elements.
llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<int64_t> shape);

/// Calls `visit(position, index)` for every element of `shape` in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(int64_t, llvm::ArrayRef<int64_t>)> visit);

} // namespace trainc::reference
