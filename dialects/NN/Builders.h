// Shorthand for building nn ops in gradients and decompositions.
#pragma once

#include "dialects/NN/NN.h"

namespace trainc::nn {

/// Builds nn ops on static tensors at one location. The operands of a binary op have one type, or one of them
/// is a plain number.
class TensorBuilder {
public:
  TensorBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// Creates `Op` with inferred result types; operands and attributes as in Op::create.
  template <typename Op, typename... Args> Op create(Args &&...args) {
    return Op::create(builder, loc, std::forward<Args>(args)...);
  }

  mlir::Value constant(double value, mlir::RankedTensorType type);
  mlir::Value zero(mlir::RankedTensorType type) { return constant(0, type); }

  mlir::Value add(mlir::Value x, mlir::Value y) { return create<AddOp>(x, y).getResult(); }
  mlir::Value sub(mlir::Value x, mlir::Value y) { return create<SubOp>(x, y).getResult(); }
  mlir::Value mul(mlir::Value x, mlir::Value y) { return create<MulOp>(x, y).getResult(); }
  mlir::Value div(mlir::Value x, mlir::Value y) { return create<DivOp>(x, y).getResult(); }
  mlir::Value add(mlir::Value x, double y) { return add(x, constantLike(x, y)); }
  mlir::Value sub(double x, mlir::Value y) { return sub(constantLike(y, x), y); }
  mlir::Value mul(mlir::Value x, double y) { return mul(x, constantLike(x, y)); }
  mlir::Value neg(mlir::Value x) { return create<NegOp>(x).getResult(); }
  mlir::Value exp(mlir::Value x) { return create<ExpOp>(x).getResult(); }
  mlir::Value square(mlir::Value x) { return create<SquareOp>(x).getResult(); }
  mlir::Value compare(Predicate predicate, mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value convert(mlir::Value x, mlir::Type element);

  /// Returns a constant of the type of `value`.
  mlir::Value constantLike(mlir::Value value, double number);
  /// Repeats `x` to the shape of `type` (right-aligned, as nn.broadcast); returns `x` if the shapes are
  /// equal.
  mlir::Value broadcastTo(mlir::Value x, mlir::RankedTensorType type) {
    return broadcastTo(x, type.getShape());
  }
  mlir::Value broadcastTo(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  /// Repeats `x`, which lacks the last dimension of `shape`, along that dimension.
  mlir::Value broadcastLast(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  /// Sums `x` over the dimensions along which `type` was repeated to the shape of `x`: the adjoint of
  /// broadcastTo.
  mlir::Value sumTo(mlir::Value x, mlir::RankedTensorType type);
  /// Builds nn.reduce. `to` is the element type of the result, if it differs from that of `x` (see ReduceOp).
  mlir::Value reduce(ReduceKind kind, mlir::Value x, llvm::ArrayRef<int64_t> dims, bool keep = false,
                     mlir::Type to = {});
  mlir::Value sum(mlir::Value x, llvm::ArrayRef<int64_t> dims, bool keep = false) {
    return reduce(ReduceKind::sum, x, dims, keep);
  }
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  /// Swaps the last two dimensions.
  mlir::Value transposeLast(mlir::Value x);
  mlir::Value slice(mlir::Value x, int64_t dim, int64_t offset, int64_t size);
  mlir::Value pad(mlir::Value x, int64_t dim, int64_t low, int64_t high);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> inputs, int64_t dim);

  struct Matmul {
    bool transposeLhs = false, transposeRhs = false, reduceBatch = false;
    mlir::Type to = {}; ///< element type of the result, if it differs from the factors' type
    mlir::Value lhsScale = {}, rhsScale = {}; ///< scales of fp8 factors
  };
  mlir::Value matmul(mlir::Value lhs, mlir::Value rhs, Matmul how);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// States and number that determine the random numbers of one draw.
struct RandomDraw {
  mlir::Value seed, step, micro;
  int64_t stream; ///< differs between all draws of a step
};

/// Builds `x` with elements that are 0 with probability `p`, and otherwise divided by 1 - p.
mlir::Value buildDropout(TensorBuilder &b, mlir::Value x, double p, const RandomDraw &draw);

/// Returns the type of a static tensor.
inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return tensorType(value).getShape(); }
/// Returns `shape` with the element type of `value`.
inline mlir::RankedTensorType typeLike(mlir::Value value, llvm::ArrayRef<int64_t> shape) {
  return mlir::RankedTensorType::get(shape, tensorType(value).getElementType());
}
/// Returns `dim` counted from the front; negative dimensions count from the end.
inline int64_t normalizeDim(int64_t dim, int64_t rank) { return dim < 0 ? dim + rank : dim; }
/// Whether the type is bf16 or f16.
inline bool isLowPrecision(mlir::Type element) { return element.isBF16() || element.isF16(); }
/// Whether the type is f8E4M3FN or f8E5M2, which only products compute with.
inline bool isFp8(mlir::Type element) {
  return llvm::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(element);
}
/// Returns the type in which numbers of type `element` are computed and summed: f32 for bf16 and f16, else
/// `element`.
inline mlir::Type wideElement(mlir::Type element) {
  return isLowPrecision(element) ? mlir::Float32Type::get(element.getContext()) : element;
}
/// Whether the type can represent the number. False for integer types if the number is a fraction, NaN or out
/// of range; false for float types if it would round to infinity.
bool isHeldBy(mlir::Type element, double number);
/// Returns the number of an nn.constant; none if `value` is something else.
std::optional<double> constantValue(mlir::Value value);

} // namespace trainc::nn
