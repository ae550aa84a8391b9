#include "lib/Instantiate/Instantiate.h"

#include "lib/Instantiate/Entries.h"

#include "mlir/IR/OwningOpRef.h"

using namespace mlir;
using namespace trainc;

/// The scalars of every training program, in the order of the plan's schema.
static void declareScalars(StateTable &states) {
  using enum HostScalar;
  for (HostScalar scalar : {lr, seed, step, micro, loss, targets})
    states.scalar(scalar);
}

/// Moves models and blocks into a module of their own, so that parameters may have their names.
static OwningOpRef<ModuleOp> isolateModels(ModuleOp module) {
  OwningOpRef<ModuleOp> text = ModuleOp::create(module.getLoc());
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (isa<nn::ModelOp, nn::BlockOp>(op))
      op.moveBefore(text->getBody(), text->getBody()->end());
  return text;
}

/// The model's exports stay with the program, beside the program's own.
static LogicalResult moveExports(Binding &binding) {
  DictionaryAttr exports = binding.model.getExportsAttr();
  if (!exports)
    return success();
  NamedAttrList all(binding.program.getExportsAttr());
  for (NamedAttribute file : exports) {
    if (!all.get(file.getName())) {
      all.append(file);
      continue;
    }
    InFlightDiagnostic error = binding.program.emitError("'export \"")
                               << file.getName().getValue() << "\"' is given by the model as well";
    error.attachNote(binding.model.getLoc()) << "the model is here";
    return error;
  }
  binding.program.setExportsAttr(all.getDictionary(binding.module.getContext()));
  return success();
}

LogicalResult trainc::instantiate(ModuleOp module) {
  if (failed(checkModelText(module)))
    return failure();
  FailureOr<Binding> binding = bindProgram(module);
  if (failed(binding) || failed(moveExports(*binding)))
    return failure();
  OwningOpRef<ModuleOp> text = isolateModels(module);
  Instantiation shared{*binding, StateTable(module), {}};
  declareScalars(shared.states);
  train::EntryOp init = shared.states.createEntry(EntryKind::init);
  train::EntryOp beginStep = shared.states.createEntry(EntryKind::begin_step);
  train::EntryOp microStep = shared.states.createEntry(EntryKind::micro_step);
  train::EntryOp eval = shared.states.createEntry(EntryKind::eval);
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
  return success();
}
