// From the command line to the ranks that run it.
#pragma once

#include "tools/trainrun/options.h"

namespace trainc {

/// Runs `options` as the plan's only rank, as the parent of its ranks, or as one of them, and returns the
/// exit code. What goes wrong is on standard error.
int launch(const Options &options);

/// For a process that cannot run what it was asked to, as its command line or its plan is wrong: says so to
/// the user, and to the ranks of its job, which wait for it. Returns the exit code.
int refuseToLaunch(const Options &options, const Status &status);

} // namespace trainc
