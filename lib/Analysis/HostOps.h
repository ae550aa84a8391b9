// Ops that run on the host's cores, in plans for other devices.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc {

/// On a scheduled nn.kernel, by the pass offload: it runs on the host, reads states that lie there, and
/// writes such.
inline constexpr llvm::StringLiteral kOnHostAttr = "plan.on_host";

inline bool runsOnHost(mlir::Operation *op) { return op->hasAttr(kOnHostAttr); }

/// Whether ops of the host read the state where it lies, so that nothing is copied.
inline bool isReadOnHost(train::GetOp get) {
  return !get->use_empty() && llvm::all_of(get->getUsers(), runsOnHost);
}

/// Likewise of one that writes it.
inline bool isMadeOnHost(train::SetOp set) {
  mlir::Operation *made = set.getValue().getDefiningOp();
  return made && runsOnHost(made);
}

} // namespace trainc
