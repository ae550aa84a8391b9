// Norm of all gradients, clipping, and whether the step may be applied.
#include "lib/Optimizer/GradientNorm.h"

#include <limits>

using namespace mlir;
using namespace trainc;

Value trainc::buildGlobalNorm(StepBuilder &build, ArrayRef<Value> gradients) {
  Value total;
  for (Value gradient : gradients) {
    Value squares = build.square(gradient);
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, nn::shapeOf(gradient).size()));
    Value sum = dims.empty() ? squares : build.sum(squares, dims);
    total = total ? build.add(total, sum) : sum;
  }
  return build.create<nn::SqrtOp>(total).getResult();
}

Value trainc::buildClipFactor(StepBuilder &build, Value norm, double clip) {
  Value quotient = build.div(build.constantLike(norm, clip), build.add(norm, 1e-6));
  return build.create<nn::MinOp>(quotient, build.constantLike(norm, 1)).getResult();
}

/// NaN compares as false, and infinity is above the largest number.
Value trainc::buildFiniteFlag(StepBuilder &build, ArrayRef<Value> scalars) {
  Value flag;
  for (Value scalar : scalars) {
    Value magnitude = build.create<nn::AbsOp>(scalar).getResult();
    Value largest = build.constantLike(scalar, std::numeric_limits<float>::max());
    Value bounded = build.compare(nn::Predicate::le, magnitude, largest);
    Value one = build.constantLike(scalar, 1), zero = build.constantLike(scalar, 0);
    flag = build.select(bounded, flag ? flag : one, zero);
  }
  return flag;
}
