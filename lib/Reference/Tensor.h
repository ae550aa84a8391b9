// A value of the reference interpreter.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace trainc::reference {

/// A row-major array of static shape. Numbers of every float type are held in float64. Those of f32 and f64
/// are not rounded to it. Those of bf16, f16 and fp8 are: what an op gives is rounded once, to nearest even.
/// Integers of every width (i1 too, as 0 and 1) are held in int64.
class Tensor {
public:
  /// Zeros of that type.
  explicit Tensor(mlir::RankedTensorType type);
  /// Zeros of the type of `value`, which is a static tensor.
  explicit Tensor(mlir::Value value) : Tensor(mlir::cast<mlir::RankedTensorType>(value.getType())) {}
  /// The numbers of a literal, which may differ from `type` in element type but not in shape.
  Tensor(mlir::RankedTensorType type, mlir::DenseElementsAttr literal);

  mlir::RankedTensorType type() const { return type_; }
  llvm::ArrayRef<int64_t> shape() const { return type_.getShape(); }
  int64_t rank() const { return type_.getRank(); }
  /// Size of dimension `dim`, counted from the end if negative.
  int64_t dim(int64_t dim) const { return shape()[dim < 0 ? dim + rank() : dim]; }
  int64_t elements() const { return type_.getNumElements(); }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(type_.getElementType()); }

  /// Numbers of a float tensor; empty for integers.
  std::vector<double> reals;
  /// Numbers of an integer tensor; empty for floats.
  std::vector<int64_t> integers;

  /// The element at a row-major position as a real number.
  double real(int64_t position) const { return isFloat() ? reals[position] : double(integers[position]); }
  /// Stores an integer, wrapped to the width of the element type.
  void setInteger(int64_t position, int64_t number);
  /// Stores a number in a tensor of any type; the fraction is dropped where it holds integers.
  void setNumber(int64_t position, double number);
  /// Rounds to numbers of the element type where that is bf16, f16 or fp8.
  void roundShortNumbers();
  /// Copies one element of a tensor of the same element type.
  void copyElement(int64_t position, const Tensor &from, int64_t fromPosition);
  /// The same numbers in row-major order under another type of as many elements.
  Tensor withType(mlir::RankedTensorType type) const;

private:
  mlir::RankedTensorType type_;
};

using Tensors = std::vector<Tensor>;

/// Whether tensors of such elements hold rounded numbers: bf16, f16 and fp8.
bool isShort(mlir::Type element);
/// The nearest number of a narrower float type; of two, the even one. Numbers beyond the largest of fp8
/// become that.
double roundTo(mlir::FloatType type, double number);
double roundTo(mlir::FloatType type, int64_t number);

/// Row-major strides, in elements.
llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<int64_t> shape);

/// Calls `visit(position, index)` for every element of `shape` in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(int64_t, llvm::ArrayRef<int64_t>)> visit);

} // namespace trainc::reference
