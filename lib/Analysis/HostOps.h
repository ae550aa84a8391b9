// Ops that run on the host's cores, in plans for other devices.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc {

/// Set by the pass offload on a scheduled nn.kernel: it runs on the host, and reads and writes states in host
/// memory.
inline constexpr llvm::StringLiteral kOnHostAttr = "plan.on_host";

inline bool runsOnHost(mlir::Operation *op) { return op->hasAttr(kOnHostAttr); }

/// Whether all readers are host ops, which read the state in place without a copy.
inline bool isReadOnHost(train::GetOp get) {
  return !get->use_empty() && llvm::all_of(get->getUsers(), runsOnHost);
}

/// Whether a host op writes the state in place.
inline bool isMadeOnHost(train::SetOp set) {
  mlir::Operation *made = set.getValue().getDefiningOp();
  return made && runsOnHost(made);
}

} // namespace trainc
