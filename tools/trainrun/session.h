// What one rank does, from the plan file to the generated text.
#pragma once

#include "runtime/log/log.h"
#include "runtime/plan/file.h"
#include "tools/trainrun/options.h"
#include "tools/trainrun/rank.h"

namespace trainc {

/// Does what `options` ask for with the plan in `file`, together with the other ranks. Messages go to `log`,
/// generated text and dry runs to standard output, from rank 0.
Status runSession(const PlanFile &file, const Options &options, const Rank &rank, Log &log);

} // namespace trainc
