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

} // namespace trainc
