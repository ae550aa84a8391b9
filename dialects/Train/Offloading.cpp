#include "dialects/Train/Offloading.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

OffloadSettings trainc::train::offloadOf(ProgramOp program) {
  OffloadSettings settings;
  for (StringRef word : llvm::split(program.getOffload().value_or("none"), ',')) {
    if (word == "optimizer")
      settings.roles.push_back(StateRole::optimizer);
    if (word == "gradients")
      settings.roles.push_back(StateRole::gradient);
    if (word == "parameters")
      settings.roles.append({StateRole::parameter, StateRole::working});
    settings.hiddenAlone |= word == "hidden_activations";
    settings.activations |= word == "activations" || word == "hidden_activations";
  }
  const StringRef usual = program.getTarget() == "cuda" ? "host" : "disk";
  settings.space = program.getOffloadTo().value_or(usual) == "host" ? plan::Space::host : plan::Space::disk;
  settings.groupBytes = program.getOffloadGroup();
  return settings;
}
