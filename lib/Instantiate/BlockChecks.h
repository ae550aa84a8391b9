// Checks of settings that name blocks: they are the model's. Errors are at the program.
#pragma once

#include "lib/Instantiate/Binding.h"

namespace trainc {

/// Blocks that units are named after exist, on however many ranks the program runs.
llvm::LogicalResult checkWrap(const Binding &binding);

/// Blocks that are to be computed again exist, and a budget has a limit to fit into. Warns if nothing can be
/// computed again.
llvm::LogicalResult checkCheckpoints(const Binding &binding);

} // namespace trainc
