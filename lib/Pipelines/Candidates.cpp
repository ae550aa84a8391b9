#include "lib/Pipelines/Candidates.h"

#include "lib/Codegen/Target.h"

using namespace mlir;

namespace trainc {

/// Runs passes whose results are looked at and thrown away; the plan that is taken is verified.
static LogicalResult run(ModuleOp module, llvm::function_ref<void(PassManager &)> addPasses) {
  PassManager manager(module.getContext());
  manager.enableVerifier(false);
  addPasses(manager);
  return manager.run(module);
}

FailureOr<Candidates> Candidates::make(ModuleOp model, const CompileOptions &options) {
  OwningOpRef<ModuleOp> step = model.clone();
  if (failed(applySettings(*step, options)))
    return failure();
  Strategy strategy = strategyOf(*step, options);
  if (failed(run(*step, [&](PassManager &manager) { addStepPasses(manager, strategy); })))
    return failure();
  return Candidates(std::move(step), std::move(strategy));
}

FailureOr<CandidatePlan> Candidates::plan(const Machine *machine) const {
  OwningOpRef<ModuleOp> module = step_.get().clone();
  const Machine reference = codegen::Target::chosenFor(*module)->referenceMachine();
  if (failed(run(*module, [&](PassManager &manager) {
        addRecomputePasses(manager, strategy_);
        addShardPasses(manager, strategy_);
        addSpmdPasses(manager, strategy_);
        addScheduledPasses(manager, strategy_);
        addMemoryPasses(manager, strategy_.padsRows);
        addStreamPasses(manager);
      })))
    return failure();
  return CandidatePlan{memoryReport(*module), predictStep(*module, machine ? *machine : reference),
                       flopsPerStep(*module), sentBytesPerStep(*module)};
}

} // namespace trainc
