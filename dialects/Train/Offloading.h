// What a program keeps outside the device's memory.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc::train {

/// A program's words `offload`, `offload_to`, `offload_group` and `offload_update`, with their defaults.
struct OffloadSettings {
  llvm::SmallVector<StateRole> roles; ///< of the states
  bool activations = false;           ///< what the backward reads of the forward, too
  bool hiddenAlone = false;           ///< of these what copies hide
  plan::Space space = plan::Space::disk;
  /// That an update has in memory at a time, beside the next ones. None: the pass `offload` decides.
  std::optional<int64_t> groupBytes;
  bool updatesOnHost = false; ///< what lies there of the optimizer's states

  bool any() const { return activations || !roles.empty(); }
};

OffloadSettings offloadOf(ProgramOp program);

/// Of which states a word of `offload` speaks; none of others.
llvm::SmallVector<StateRole> offloadedRoles(llvm::StringRef word);

} // namespace trainc::train
