// Checks for contradictory options.
#pragma once

#include "tools/trainrun/options.h"

namespace trainc {

/// Ok, or kInvalidInput naming the options and what to do: no option is silently ignored.
Status checkContradictions(const Options &options);

} // namespace trainc
