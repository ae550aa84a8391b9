#include "lib/Instantiate/Instantiate.h"

#include "lib/Instantiate/Entries.h"

using namespace mlir;
using namespace trainc;

/// The scalars of every training program, in the order of the plan's schema.
static void declareScalars(StateTable &states, MLIRContext *context) {
  Type f32 = Float32Type::get(context), i64 = IntegerType::get(context, 64);
  states.scalar("lr", f32, train::Direction::to_device);
  for (StringRef counter : {"seed", "step", "micro"})
    states.scalar(counter, i64, train::Direction::to_device);
  for (StringRef result : {"loss", "targets"})
    states.scalar(result, f32, train::Direction::from_device);
}

/// The model's text has served; its exports stay with the program.
static void eraseModels(Binding &binding) {
  if (DictionaryAttr exports = binding.model.getExportsAttr())
    binding.program.setExportsAttr(exports);
  for (Operation &op : llvm::make_early_inc_range(*binding.module.getBody()))
    if (isa<nn::ModelOp, nn::BlockOp>(op))
      op.erase();
}

LogicalResult trainc::instantiate(ModuleOp module, const InstantiateOptions &options) {
  FailureOr<Binding> binding = bindProgram(module, options);
  if (failed(binding))
    return failure();
  Instantiation shared{*binding, StateTable(module), {}};
  declareScalars(shared.states, module.getContext());
  train::EntryOp init = shared.states.createEntry("init");
  train::EntryOp beginStep = shared.states.createEntry("begin_step");
  train::EntryOp microStep = shared.states.createEntry("micro_step");
  train::EntryOp eval = shared.states.createEntry("eval");
  // The first expansion declares the parameters, and reports what is wrong with the model.
  FailureOr<Forward> micro = buildMicroStep(shared, microStep);
  if (failed(micro) || failed(applyGroups(shared.binding)))
    return failure();
  buildInit(shared, init);
  if (failed(buildBeginStep(shared, beginStep, *micro)) || failed(buildEval(shared, eval)))
    return failure();
  buildGeneration(shared, *micro);
  eraseDeadOps(microStep);
  limitInputs(module);
  eraseModels(shared.binding);
  return success();
}
