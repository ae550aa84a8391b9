// Options that make no sense together.
#pragma once

#include "tools/trainrun/options.h"

namespace trainc {

/// Ok, or kInvalidInput naming the options and what to do: nothing that the user gave is silently ignored.
Status checkContradictions(const Options &options);

} // namespace trainc
