#include "dialects/Train/Offloading.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

SmallVector<StateRole> trainc::train::rolesOf(Offloaded kind) {
  switch (kind) {
  case Offloaded::none:
    return {};
  case Offloaded::optimizer:
    return {StateRole::optimizer};
  case Offloaded::gradients:
    return {StateRole::gradient};
  case Offloaded::parameters:
    return {StateRole::parameter, StateRole::working};
  case Offloaded::activations:
  case Offloaded::hidden_activations:
    return {StateRole::activation};
  }
  llvm_unreachable("unknown kind of tensors");
}

OffloadSettings trainc::train::offloadOf(ProgramOp program) {
  OffloadSettings settings;
  for (const Offloaded kind : kOffload.of(program)) {
    const SmallVector<StateRole> roles = rolesOf(kind);
    if (llvm::is_contained(roles, StateRole::activation))
      settings.activations = true; // not a state yet; the pass `offload` declares states for activations
    else
      settings.roles.append(roles);
    settings.hiddenAlone |= kind == Offloaded::hidden_activations;
  }
  const OffloadTo usual = targetOf(program).isHost ? OffloadTo::disk : OffloadTo::host;
  settings.space =
      kOffloadTo.given(program).value_or(usual) == OffloadTo::host ? plan::Space::host : plan::Space::disk;
  settings.groupBytes = kOffloadGroup.given(program);
  settings.updatesOnHost = kOffloadUpdate.of(program) == OffloadUpdate::host;
  return settings;
}
