// What elementwise ops share: shorthand for building their scalar computations in arith and math, on scalars
// or lanes.
#pragma once

#include "dialects/NN/NN.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

namespace trainc::nn {

/// Builds on values of one floating-point element type.
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
  /// x / (1 + e^-y): an overflow of e^-y gives the limit, 0; NaN is kept.
  mlir::Value timesSigmoid(mlir::Value x, mlir::Value y) const { return div(x, add(number(1), exp(neg(y)))); }
};

/// `x`, an integer (i1 counts as 0 and 1, wider ones are signed), as a number of type `to`.
mlir::Value convertInt(mlir::OpBuilder &builder, const LaneContext &lanes, mlir::Value x, mlir::Type to);

/// Operands `a` and `b` (named for messages) must have equal shapes; says which dimension differs.
llvm::LogicalResult checkSameShape(llvm::StringRef nameA, mlir::Value a, llvm::StringRef nameB, mlir::Value b,
                                   InferError error);

/// The same of their element types.
llvm::LogicalResult checkSameElement(llvm::StringRef nameA, mlir::Value a, llvm::StringRef nameB,
                                     mlir::Value b, InferError error);

/// The largest finite number of the type.
double largestNumber(mlir::FloatType type);

/// The number that all elements of a constant are, if a double holds it exactly.
std::optional<double> splatNumber(mlir::Attribute attribute);

} // namespace trainc::nn
