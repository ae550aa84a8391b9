// Names of states that mean something to passes or the runtime.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace trainc::train {

/// The sum of the losses of a step's micro-batches.
inline constexpr llvm::StringLiteral kLossState = "loss";

/// True for what names a part of the step: a scalar, an entry, or a state that a pass makes, such as
/// "exp_avg.w" beside parameter "w". Parameters and programs have other names.
bool isReservedName(llvm::StringRef name);

} // namespace trainc::train
