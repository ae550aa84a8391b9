#include "lib/Pipelines/StepRuns.h"

using namespace mlir;

namespace trainc {

int64_t runsPerStep(ModuleOp module, EntryKind entry) {
  using enum EntryKind;
  if (entry == begin_step || entry == last_micro_step || entry == update)
    return 1;
  if (entry != micro_step)
    return 0;
  const bool isLastApart = findEntry<plan::EntryOp>(module, last_micro_step) != nullptr;
  for (auto training : module.getOps<plan::TrainingOp>())
    return training.getAccumulate() - (isLastApart ? 1 : 0);
  return 1;
}

} // namespace trainc
