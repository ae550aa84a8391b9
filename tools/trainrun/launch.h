// From the command line to the ranks that run it.
#pragma once

#include "tools/trainrun/options.h"

namespace trainc {

/// Runs `options` as the plan's only rank, as the parent of its ranks, or as one of them, and returns the
/// exit code. Errors are on standard error.
int launch(const Options &options);

/// Reports an error of the command line or the plan to the user, and to the job's other ranks, which wait for
/// this one. Returns the exit code.
int refuseToLaunch(const Options &options, const Status &status);

} // namespace trainc
