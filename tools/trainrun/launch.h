// From the command line to the ranks that run it.
#pragma once

#include "tools/trainrun/options.h"

namespace trainc {

/// Runs `options` as the plan's only rank, as the parent of its ranks, or as one of them, and returns the
/// exit code. What goes wrong is on standard error.
int launch(const Options &options);

} // namespace trainc
