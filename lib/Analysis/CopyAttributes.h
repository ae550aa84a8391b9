// Attributes that describe when copies between memory spaces run.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace trainc {

/// Set by the pass offload on a train.set of an offloaded state: number of following ops during which the
/// value's memory is not reused, because the copy is expected to be reading it.
inline constexpr llvm::StringLiteral kBesideAttr = "plan.beside";

/// Set by the pass offload on a train.get of an offloaded state: number of ops by which its copy should start
/// earlier, if memory allows.
inline constexpr llvm::StringLiteral kAheadAttr = "plan.ahead";

/// Set by the pass offload on a train.set of an offloaded state: number of ops of the next micro-step during
/// which the value's memory should not be reused, because the copy is expected to be reading it. Applies only
/// if memory allows.
inline constexpr llvm::StringLiteral kOutlastsAttr = "plan.outlasts";

} // namespace trainc
