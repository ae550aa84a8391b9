// Offloading of a program's states and activations.
#pragma once

#include "dialects/Train/Train.h"
#include "plan/settings/settings.h"

namespace trainc::train {

/// Settings of the theme Offload, with their defaults.
struct OffloadSettings {
  llvm::SmallVector<StateRole> roles; ///< roles of the offloaded states
  bool activations = false;           ///< whether activations that the backward reads are offloaded
  bool hiddenAlone = false;           ///< whether only activations whose copies are hidden are offloaded
  plan::Space space = plan::Space::disk;
  /// Maximum bytes of states that are updated together. These states and those of the next group are resident
  /// at the same time. None: the pass `offload` decides.
  std::optional<int64_t> groupBytes;
  bool updatesOnHost = false; ///< whether the host's cores update the offloaded optimizer states

  bool any() const { return activations || !roles.empty(); }
};

OffloadSettings offloadOf(ProgramOp program);

/// Returns the roles of the states of this kind.
llvm::SmallVector<StateRole> rolesOf(Offloaded kind);

} // namespace trainc::train
