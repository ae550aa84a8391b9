#include "dialects/Train/Offloading.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

SmallVector<StateRole> trainc::train::offloadedRoles(StringRef word) {
  if (word == "optimizer")
    return {StateRole::optimizer};
  if (word == "gradients")
    return {StateRole::gradient};
  if (word == "parameters")
    return {StateRole::parameter, StateRole::working};
  if (word == "activations" || word == "hidden_activations")
    return {StateRole::activation};
  return {};
}

OffloadSettings trainc::train::offloadOf(ProgramOp program) {
  OffloadSettings settings;
  for (StringRef word : llvm::split(program.getOffload().value_or("none"), ',')) {
    const SmallVector<StateRole> roles = offloadedRoles(word);
    if (llvm::is_contained(roles, StateRole::activation))
      settings.activations = true; // not a state yet; the pass `offload` declares states for activations
    else
      settings.roles.append(roles);
    settings.hiddenAlone |= word == "hidden_activations";
  }
  const StringRef usual = program.getTarget() == "cuda" ? "host" : "disk";
  settings.space = program.getOffloadTo().value_or(usual) == "host" ? plan::Space::host : plan::Space::disk;
  settings.groupBytes = program.getOffloadGroup();
  settings.updatesOnHost = program.getOffloadUpdate() == "host";
  return settings;
}
