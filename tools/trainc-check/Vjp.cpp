#include "Vjp.h"

#include "dialects/NN/NN.h"

using namespace mlir;
using namespace trainc;

bool check::isReal(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

namespace {

/// The reverse sweep over one block.
class Sweep {
public:
  explicit Sweep(Operation *terminator) : builder_(terminator) {}

  void add(Value value, Value cotangent) {
    Value &sum = cotangents_[value];
    sum = sum ? nn::AddOp::create(builder_, value.getLoc(), sum, cotangent).getResult() : cotangent;
  }

  /// Adds the cotangents of the op's operands. Ops without the interface are constants.
  void visit(Operation &op) {
    auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
    if (!differentiable)
      return;
    SmallVector<Value> results, operands(op.getNumOperands());
    for (Value result : op.getResults())
      results.push_back(cotangents_.lookup(result));
    if (llvm::none_of(results, [](Value cotangent) { return bool(cotangent); }))
      return;
    SmallVector<bool> needed(llvm::map_range(op.getOperands(), check::isReal));
    differentiable.buildVjp(builder_, results, needed, operands);
    for (auto [operand, cotangent] : llvm::zip(op.getOperands(), operands))
      if (cotangent)
        add(operand, cotangent);
  }

  Value cotangentOf(Value value) {
    if (Value cotangent = cotangents_.lookup(value))
      return cotangent;
    auto type = cast<RankedTensorType>(value.getType());
    return nn::ConstantOp::create(builder_, value.getLoc(), builder_.getF64FloatAttr(0), TypeAttr::get(type));
  }

private:
  OpBuilder builder_;
  DenseMap<Value, Value> cotangents_;
};

} // namespace

OwningOpRef<func::FuncOp> check::buildVjp(func::FuncOp function, ArrayRef<unsigned> wanted) {
  OwningOpRef<func::FuncOp> vjp = function.clone();
  Block &block = vjp->getBody().front();
  Operation *terminator = block.getTerminator();
  SmallVector<Operation *> forward;
  for (Operation &op : block.without_terminator())
    forward.push_back(&op);

  Sweep sweep(terminator);
  for (Value result : terminator->getOperands())
    if (isReal(result))
      sweep.add(result, block.addArgument(result.getType(), result.getLoc()));
  for (Operation *op : llvm::reverse(forward))
    sweep.visit(*op);
  SmallVector<Value> gradients;
  for (unsigned argument : wanted)
    gradients.push_back(sweep.cotangentOf(block.getArgument(argument)));
  terminator->setOperands(gradients);
  vjp->removeResAttrsAttr();
  vjp->removeArgAttrsAttr();
  vjp->setFunctionType(
      FunctionType::get(vjp->getContext(), block.getArgumentTypes(), terminator->getOperandTypes()));
  return vjp;
}
