#include "lib/Precision/Fp8Choice.h"

#include "dialects/NN/NN.h"
#include "lib/Analysis/ForwardOps.h"

using namespace mlir;

namespace trainc {

static bool hasPrecision(Operation *op, PrecisionClass wanted) {
  auto precision = dyn_cast<PrecisionOpInterface>(op);
  return precision && precision.getPrecisionClass() == wanted;
}

Fp8Choice::Fp8Choice(train::EntryOp entry) : forward_(forwardOps(entry)) {
  Block &block = entry.getBody().front();
  findParameters(block);
  findLeading(block);
  for (auto op : block.getOps<Fp8OpInterface>())
    if (op.getFp8Operands().empty())
      continue;
    else if (forward_.contains(op))
      addForward(op);
    else
      addBackward(op);
}

void Fp8Choice::findParameters(Block &block) {
  const SymbolTable symbols(block.getParentOp()->getParentOfType<ModuleOp>());
  for (Operation &op : block) {
    auto get = dyn_cast<train::GetOp>(op);
    const bool isParameter =
        get && symbols.lookup<train::StateOp>(get.getState()).getRole() == train::StateRole::parameter;
    const bool isMoved = (isa<nn::ConvertOp>(op) || hasPrecision(&op, PrecisionClass::Keep)) &&
                         llvm::all_of(op.getOperands(), [&](Value v) { return isOfParameters(v); });
    if (isParameter || (isMoved && op.getNumOperands() > 0))
      ofParameters_.insert(op.result_begin(), op.result_end());
  }
}

void Fp8Choice::findLeading(Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    const bool leads = hasPrecision(&op, PrecisionClass::Low) ||
                       llvm::any_of(op.getResults(), [&](Value v) { return leading_.contains(v); });
    if (leads && forward_.contains(&op))
      leading_.insert(op.operand_begin(), op.operand_end());
  }
}

void Fp8Choice::addForward(Fp8OpInterface op) {
  Value result = op->getResult(0);
  const bool readsParameter =
      llvm::any_of(op.getFp8Operands(), [&](unsigned i) { return isOfParameters(op->getOperand(i)); });
  if (!readsParameter || !leading_.contains(result))
    return;
  for (unsigned operand : op.getFp8Operands())
    factors_[op->getOperand(operand)].insert(result.getType());
  ops_.push_back({op, true});
}

/// A backward product is chosen if it multiplies a factor of a chosen forward product by the gradient of its
/// result.
void Fp8Choice::addBackward(Fp8OpInterface op) {
  const SmallVector<unsigned> operands = op.getFp8Operands();
  const bool isGradient = llvm::any_of(operands, [&](unsigned operand) {
    auto known = factors_.find(op->getOperand(operand));
    return known != factors_.end() && llvm::all_of(operands, [&](unsigned other) {
             Value value = op->getOperand(other);
             return other == operand || (!isForward(value) && known->second.contains(value.getType()));
           });
  });
  if (isGradient)
    ops_.push_back({op, false});
}

} // namespace trainc
