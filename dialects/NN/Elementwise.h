// Shorthand for the scalar computations of elementwise ops in arith and math, on scalars or lanes.
#pragma once

#include "dialects/NN/NN.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

namespace trainc::nn {

/// Builds ops on values of one floating-point element type.
struct Lanes {
  mlir::OpBuilder &builder;
  const LaneContext &context;
  mlir::Type element;

  Lanes(mlir::OpBuilder &builder, const LaneContext &context, mlir::Type element)
      : builder(builder), context(context), element(element) {}
  Lanes(mlir::OpBuilder &builder, const LaneContext &context, mlir::Value like)
      : Lanes(builder, context, mlir::getElementTypeOrSelf(like)) {}

  template <typename Op, typename... Args> mlir::Value create(Args &&...args) const {
    return Op::create(builder, context.loc, std::forward<Args>(args)...).getResult();
  }
  mlir::Value number(double value) const { return context.constant(builder, element, value); }
  mlir::Value add(mlir::Value x, mlir::Value y) const { return create<mlir::arith::AddFOp>(x, y); }
  mlir::Value sub(mlir::Value x, mlir::Value y) const { return create<mlir::arith::SubFOp>(x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) const { return create<mlir::arith::MulFOp>(x, y); }
  mlir::Value mul(mlir::Value x, double y) const { return mul(x, number(y)); }
  mlir::Value div(mlir::Value x, mlir::Value y) const { return create<mlir::arith::DivFOp>(x, y); }
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z) const {
    return create<mlir::math::FmaOp>(x, y, z);
  }
  mlir::Value neg(mlir::Value x) const { return create<mlir::arith::NegFOp>(x); }
  mlir::Value exp(mlir::Value x) const { return create<mlir::math::ExpOp>(x); }
  /// Returns x / (1 + e^-y). If e^-y overflows, the result is the limit, 0. NaN is kept.
  mlir::Value timesSigmoid(mlir::Value x, mlir::Value y) const { return div(x, add(number(1), exp(neg(y)))); }
};

/// Converts the integer `x` to type `to`; i1 counts as 0 and 1, wider integers are signed.
mlir::Value convertInt(mlir::OpBuilder &builder, const LaneContext &lanes, mlir::Value x, mlir::Type to);

/// Reports an error that names the first differing dimension unless `a` and `b` have equal shapes. The names
/// appear in the message.
llvm::LogicalResult checkSameShape(llvm::StringRef nameA, mlir::Value a, llvm::StringRef nameB, mlir::Value b,
                                   InferError error);

/// Reports an error unless `a` and `b` have equal element types.
llvm::LogicalResult checkSameElement(llvm::StringRef nameA, mlir::Value a, llvm::StringRef nameB,
                                     mlir::Value b, InferError error);

/// Returns the largest finite number of the type.
double largestNumber(mlir::FloatType type);

/// Returns the number that all elements of a constant equal; none if a double cannot represent it.
std::optional<double> splatNumber(mlir::Attribute attribute);

} // namespace trainc::nn
