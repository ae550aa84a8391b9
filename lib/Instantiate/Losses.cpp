#include "lib/Instantiate/Losses.h"

#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;

static Value sumOverAll(OpBuilder &builder, Location loc, Value x) {
  nn::TensorBuilder b(builder, loc);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, nn::tensorType(x).getRank()));
  return b.convert(dims.empty() ? x : b.sum(x, dims), builder.getF32Type());
}

Value trainc::buildLossSum(OpBuilder &builder, const LossTerm &term) {
  return sumOverAll(builder, term.loc, term.value);
}

std::optional<Value> trainc::buildTargetSum(OpBuilder &builder, const LossTerm &term) {
  Value value = term.value;
  // A reshape on the way changes nothing.
  while (auto alias = value.getDefiningOp<ExecutableOpInterface>()) {
    if (alias.getKernelClass() != KernelClass::Alias)
      break;
    value = alias->getOperand(0);
  }
  auto op = value.getDefiningOp<LossTermOpInterface>();
  if (!op || value != op->getResult(0))
    return std::nullopt;
  return sumOverAll(builder, term.loc, op.buildTargetWeights(builder));
}

int64_t trainc::countElements(const LossTerm &term) { return nn::tensorType(term.value).getNumElements(); }

Value trainc::buildMean(OpBuilder &builder, Location loc, Value sum, Value targets) {
  nn::TensorBuilder b(builder, loc);
  Value any = b.compare(nn::Predicate::gt, targets, b.constantLike(targets, 0));
  return b.div(sum, b.select(any, targets, b.constantLike(targets, 1)));
}

train::StateOp trainc::targetsState(StateTable &states, const LossTerm &term, size_t index) {
  Type f32 = Float32Type::get(term.loc.getContext());
  if (index == 0)
    return states.scalar("targets", f32, train::Direction::from_device);
  std::string name = "targets." + term.name;
  if (train::StateOp state = states.lookup(name))
    return state;
  return states.declare(term.loc, name, train::Role::scalar, RankedTensorType::get({}, f32));
}
