// Norm of all gradients, clipping, and whether the step may be applied.
#include "lib/Optimizer/GradientNorm.h"

#include "dialects/Train/Sharding.h"

#include <limits>

using namespace mlir;
using namespace trainc;

static Value sumOfSquares(StepBuilder &build, Value gradient) {
  Value squares = build.square(gradient);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, nn::shapeOf(gradient).size()));
  return dims.empty() ? squares : build.sum(squares, dims);
}

/// The sums of squares of the chunks of a flat gradient.
static Value sumChunks(StepBuilder &build, Value gradient) {
  const int64_t rows = nn::shapeOf(gradient).front() / train::kFlatChunk;
  return build.sum(build.square(build.reshape(gradient, {rows, train::kFlatChunk})), {1});
}

/// Adds those of each member.
static void splitChunks(StepBuilder &build, ArrayAttr members, Value chunks, Gradients &sums) {
  for (auto member : members.getAsRange<train::MemberAttr>()) {
    const int64_t size = llvm::divideCeil(member.getType().getNumElements(), train::kFlatChunk);
    sums.push_back({member.getName(), build.slice(chunks, 0, member.getOffset() / train::kFlatChunk, size)});
  }
}

Value trainc::buildGlobalNorm(StepBuilder &build, const Gradients &gradients) {
  Value total;
  Gradients flat; // all before what reads them, so that ranks can gather them at once
  for (auto [name, gradient] : gradients) {
    if (build.state(name).getMembersAttr()) {
      flat.emplace_back(name, sumChunks(build, gradient));
      continue;
    }
    Value sum = sumOfSquares(build, gradient);
    total = total ? build.add(total, sum) : sum;
  }
  Gradients chunks; // by member
  for (auto [name, sums] : flat)
    splitChunks(build, build.state(name).getMembersAttr(), sums, chunks);
  if (!chunks.empty()) {
    llvm::sort(chunks, llvm::less_first());
    Value sum = build.sum(build.concat(llvm::to_vector(llvm::make_second_range(chunks)), 0), {0});
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
