// Attributes by which passes say how copies between spaces run.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace trainc {

/// On a train.set of a state outside the device's memory, by the pass offload: of how many ops behind it none
/// is given the value's memory, since the copy is still expected to read that.
inline constexpr llvm::StringLiteral kBesideAttr = "plan.beside";

/// On a train.get of such a state, by the pass offload: how many ops earlier its copy should begin, if memory
/// has room.
inline constexpr llvm::StringLiteral kAheadAttr = "plan.ahead";

/// On a train.set of such a state, by the pass offload: of how many ops of the micro-step behind this entry
/// none should be given the value's memory, since the copy is still expected to read that, if memory has
/// room.
inline constexpr llvm::StringLiteral kOutlastsAttr = "plan.outlasts";

} // namespace trainc
