// Checks of settings that name blocks of the model. Errors are reported at the program.
#pragma once

#include "lib/Instantiate/Binding.h"

namespace trainc {

/// Verifies that blocks named by `wrap` exist, on any number of ranks.
llvm::LogicalResult checkWrap(const Binding &binding);

/// Verifies that blocks to be recomputed exist, and that a checkpointing budget has a memory limit. Warns if
/// nothing can be recomputed.
llvm::LogicalResult checkCheckpoints(const Binding &binding);

} // namespace trainc
