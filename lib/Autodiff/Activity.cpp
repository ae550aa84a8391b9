// Which values of an entry depend on trained parameters.
#include "lib/Autodiff/Activity.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace trainc;

bool trainc::hasGradient(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

bool trainc::isTrained(train::StateOp state) {
  return state.getRole() == train::StateRole::parameter && !state.getFrozen() && hasGradient(state.getType());
}

Activity::Activity(train::EntryOp entry) {
  SymbolTableCollection symbols;
  for (Operation &op : entry.getBody().front())
    visit(op, symbols);
}

void Activity::visit(Operation &op, SymbolTableCollection &symbols) {
  if (auto get = dyn_cast<train::GetOp>(op)) {
    auto state = symbols.lookupNearestSymbolFrom<train::StateOp>(get, get.getStateAttr());
    if (!state || !isTrained(state))
      return;
    active.insert(get.getResult());
    reads[get.getStateAttr().getAttr()].push_back(get);
    return;
  }
  if (llvm::none_of(op.getOperands(), [&](Value operand) { return isActive(operand); }))
    return;
  for (Value result : op.getResults())
    if (hasGradient(result.getType()))
      active.insert(result);
}

SmallVector<StringAttr> Activity::parametersOf(Value value) const {
  llvm::SetVector<Operation *> ops;
  ops.insert(value.getDefiningOp());
  for (size_t i = 0; i < ops.size(); ++i) // grows meanwhile
    for (Value operand : ops[i]->getOperands())
      if (isActive(operand))
        ops.insert(operand.getDefiningOp());
  SmallVector<StringAttr> names;
  for (auto &[name, gets] : reads)
    if (llvm::any_of(gets, [&](train::GetOp get) { return ops.contains(get); }))
      names.push_back(name);
  return names;
}
