// One call of trainrun, from the plan file to the generated text.
#pragma once

#include "runtime/log/log.h"
#include "tools/trainrun/options.h"

namespace trainc {

/// Does what `options` ask for. Messages go to `log`, generated text and dry runs to standard output.
Status runSession(const Options &options, Log &log);

} // namespace trainc
