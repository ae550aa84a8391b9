#include "dialects/Train/Parameters.h"

#include "base/name_pattern.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

ParameterSettings train::settingsOf(ProgramOp program, StringRef name, int64_t rank) {
  ParameterSettings settings;
  settings.weightDecay = rank < 2 ? 0 : program.getOptimizer().number("weight_decay");
  if (!program.getGroups())
    return settings;
  for (GroupAttr group : program.getGroups()->getAsRange<GroupAttr>()) {
    if (!matchesPattern(group.getPattern(), name))
      continue;
    if (group.getLrScale())
      settings.lrScale = group.getLrScale().getValueAsDouble();
    if (group.getWeightDecay())
      settings.weightDecay = group.getWeightDecay().getValueAsDouble();
    if (group.getFrozen())
      settings.frozen = group.getFrozen().getValue();
  }
  return settings;
}

LogicalResult train::checkGroups(ProgramOp program, ModuleOp module) {
  if (!program.getGroups())
    return success();
  for (GroupAttr group : program.getGroups()->getAsRange<GroupAttr>())
    if (llvm::none_of(module.getOps<StateOp>(), [&](StateOp state) {
          return state.getRole() == StateRole::parameter &&
                 matchesPattern(group.getPattern(), state.getSymName());
        }))
      return program.emitError() << "group \"" << group.getPattern() << "\" matches no parameter of model @"
                                 << program.getModel() << "; `*` stands for any text";
  return success();
}

static constexpr StringRef kReserved[] = {
    // output of generation, and states of optimizers
    "logits", "bias_correction1", "bias_correction2", "loss_scale", "loss_scale_good_steps",
    // module of generated code
    "kernels",
    // key of a safetensors header
    "__metadata__"};

/// Prefixes of reserved names; the name of a parameter, loss or cache follows.
static constexpr StringRef kPrefixes[] = {
    "exp_avg.", "exp_avg_sq.", "momentum.", "grad.",      "targets.",  "cache.",      "bucket.",
    "partial.", "working.",    "chunks.",   "fp8_scale.", "fp8_amax.", "fp8_scales.", "fp8_amaxes."};

bool train::isReservedName(StringRef name) {
  return symbolizeEntryKind(name) || symbolizeHostScalar(name) || llvm::is_contained(kReserved, name) ||
         llvm::any_of(kPrefixes, [&](StringRef prefix) { return name.starts_with(prefix); });
}
