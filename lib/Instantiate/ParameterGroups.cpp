#include "dialects/Train/Parameters.h"
#include "lib/Instantiate/Entries.h"

using namespace mlir;
using namespace trainc;

/// True if a parameter's name matches the group's pattern.
static bool isUsed(train::GroupAttr group, ModuleOp module) {
  return llvm::any_of(module.getOps<train::StateOp>(), [&](train::StateOp state) {
    return state.getRole() == train::StateRole::parameter &&
           train::matchesPattern(group.getPattern(), state.getSymName());
  });
}

LogicalResult trainc::applyGroups(const Binding &binding) {
  train::ProgramOp program = binding.program;
  ModuleOp module = binding.module;
  if (!program.getGroups())
    return success();
  for (auto group : program.getGroups()->getAsRange<train::GroupAttr>())
    if (!isUsed(group, module))
      return program.emitError() << "group \"" << group.getPattern() << "\" matches no parameter of model @"
                                 << program.getModel() << "; `*` stands for any text";
  bool hasParameters = false, isTraining = false;
  for (auto state : module.getOps<train::StateOp>())
    if (state.getRole() == train::StateRole::parameter) {
      int64_t rank = cast<RankedTensorType>(state.getType()).getRank();
      state.setFrozen(train::settingsOf(program, state.getSymName(), rank).frozen);
      hasParameters = true;
      isTraining |= !state.getFrozen();
    }
  if (hasParameters && !isTraining)
    return program.emitError(
        "all parameters are frozen, so that nothing is left to train; leave some out of the "
        "groups, or add a later `group \"NAME\" trained`");
  return success();
}
