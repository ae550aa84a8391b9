// Pass `instantiate`.
#include "lib/Instantiate/Instantiate.h"

#include "base/plain_text.h"
#include "dialects/NN/RopeScaling.h"
#include "dialects/Train/Train.h"
#include "lib/Instantiate/Entries.h"
#include "lib/Instantiate/ModelChecks.h"
#include "lib/Instantiate/ModelChecksum.h"
#include "lib/Instantiate/ModelSize.h"
#include "lib/Instantiate/Passes.h"
#include "lib/Instantiate/PrecisionChecks.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/OwningOpRef.h"

#include <algorithm>

using namespace mlir;
using namespace trainc;

// --- What MLIR lets pass in a model's text, and nothing would look at, or no plan could hold ---

static LogicalResult checkName(Operation *op, StringRef attribute, Attribute value) {
  if (auto list = dyn_cast<ArrayAttr>(value))
    return success(
        llvm::all_of(list, [&](Attribute element) { return succeeded(checkName(op, attribute, element)); }));
  auto text = dyn_cast<StringAttr>(value);
  // Layers and scopes may have no name, which adds nothing to the path.
  bool mayBeEmpty = attribute == "name" || attribute == "scope";
  if (!text || isPlainText(text.getValue()) || (text.empty() && mayBeEmpty))
    return success();
  return op->emitOpError("'") << attribute
                              << "' must be UTF-8 text without control or invisible characters, found "
                              << (text.empty() ? "nothing" : "other bytes");
}

/// Reports an op that only the compiler makes, and attributes that the op does not have, because MLIR accepts
/// them silently.
static LogicalResult checkOp(Operation *op) {
  if (op->hasTrait<nn::Generated>())
    return op->emitOpError("is made by the compiler, and is not allowed in a model's file; "
                           "docs/reference/ops.md lists the ops of models");
  for (NamedAttribute unknown : op->getDiscardableAttrs())
    return op->emitOpError("has no setting '") << unknown.getName().getValue() << "'; remove it";
  for (NamedAttribute attribute : op->getAttrs())
    if (failed(checkName(op, attribute.getName(), attribute.getValue())))
      return failure();
  WalkResult names = op->getLoc()->walk([&](Location loc) {
    auto named = dyn_cast<NameLoc>(loc);
    return WalkResult(named ? checkName(op, "loc", named.getName()) : success());
  });
  return failure(names.wasInterrupted());
}

LogicalResult trainc::checkModelText(ModuleOp module) {
  for (Operation &op : *module.getBody()) {
    if (!isa<nn::BlockOp, nn::ModelOp, train::ProgramOp>(op))
      return op.emitOpError(
          "is not allowed in a model's file; expected nn.block, nn.model and train.program");
    if (op.walk([](Operation *inner) { return WalkResult(checkOp(inner)); }).wasInterrupted())
      return failure();
  }
  return success();
}

// --- Entries of a program ---

/// Declares the scalars of every training program, in the order of the plan's schema.
static void declareScalars(StateTable &states) {
  using enum HostScalar;
  for (HostScalar scalar : {lr, seed, step, micro, loss, targets})
    states.scalar(scalar);
}

/// Moves models and blocks into a separate module, so that parameters can have their names.
static OwningOpRef<ModuleOp> isolateModels(ModuleOp module) {
  OwningOpRef<ModuleOp> text = ModuleOp::create(module.getLoc());
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (isa<nn::ModelOp, nn::BlockOp>(op))
      op.moveBefore(text->getBody(), text->getBody()->end());
  return text;
}

/// Adds the model's exports to the program's exports.
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

/// Decides scalings of rotary positions that depend on the length of sequences, once for all entries: decode
/// must rotate keys as prefill does, which stores them. The length is open, or else that of the columns.
static void chooseScalings(ModuleOp text, const Binding &binding) {
  int64_t length = binding.seqLen;
  if (length == 0)
    for (Type type : nn::ModelOp(binding.model).getArgumentTypes().getAsValueRange<TypeAttr>())
      if (auto column = cast<RankedTensorType>(type); column.getRank() > 1)
        length = std::max(length, column.getDimSize(1));
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](nn::RopeScalingAttr scaling) { return nn::forLength(scaling, length); });
  replacer.recursivelyReplaceElementsIn(text);
}

LogicalResult trainc::instantiate(ModuleOp module) {
  if (failed(checkModelText(module)))
    return failure();
  FailureOr<Binding> binding = bindProgram(module);
  if (failed(binding) || failed(checkModelSize(binding->model)) || failed(moveExports(*binding)))
    return failure();
  binding->program.setModelChecksum(modelChecksum(binding->model));
  OwningOpRef<ModuleOp> text = isolateModels(module);
  chooseScalings(*text, *binding);
  Instantiation shared{*binding, StateTable(module), {}};
  declareScalars(shared.states);
  train::EntryOp init = shared.states.createEntry(EntryKind::init);
  train::EntryOp beginStep = shared.states.createEntry(EntryKind::begin_step);
  train::EntryOp microStep = shared.states.createEntry(EntryKind::micro_step);
  train::EntryOp eval = shared.states.createEntry(EntryKind::eval);
  // The first expansion declares the parameters and reports errors of the model.
  FailureOr<Forward> micro = buildMicroStep(shared, microStep);
  if (failed(micro) || failed(applyGroups(shared.binding)) || failed(checkKept(shared.binding)) ||
      failed(checkExportedConfig(shared.binding, microStep, *micro)))
    return failure();
  warnOfSlips(shared.binding, microStep);
  buildInit(shared, init);
  if (failed(buildBeginStep(shared, beginStep, *micro)) || failed(buildEval(shared, eval)))
    return failure();
  noteCombinedSamples(shared, *micro);
  buildGeneration(shared, *micro);
  eraseDeadOps(microStep);
  limitInputs(module);
  return success();
}

// --- The pass ---

namespace trainc {
#define GEN_PASS_DEF_INSTANTIATEPASS
#include "lib/Instantiate/Passes.h.inc"
} // namespace trainc

using namespace mlir;
using namespace trainc;

namespace {
struct InstantiatePass : trainc::impl::InstantiatePassBase<InstantiatePass> {
  void runOnOperation() override {
    if (failed(instantiate(getOperation())))
      signalPassFailure();
  }
};
} // namespace
