#include "lib/Analysis/NoTraining.h"

#include "lib/Support/SourceName.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace trainc {

void noteNoTraining(train::ProgramOp program, Location place, StringRef reason) {
  if (program.getNoTraining())
    return;
  emitWarning(place) << "the plan evaluates and does not train: " << reason;
  const std::string where = placeText(place);
  program.setNoTraining((where.empty() ? "" : where + ": ") + reason.str());
}

void noteIfAllFrozen(train::ProgramOp program, ModuleOp module) {
  bool hasParameters = false, isTraining = false;
  for (auto state : module.getOps<train::StateOp>())
    if (state.getRole() == train::StateRole::parameter) {
      hasParameters = true;
      isTraining |= !state.getFrozen();
    }
  if (hasParameters && !isTraining)
    noteNoTraining(
        program, program.getLoc(),
        "all parameters are frozen, so that nothing is left to train; to train, leave some out of the "
        "groups, or add a later `group \"NAME\" trained`");
}

} // namespace trainc
