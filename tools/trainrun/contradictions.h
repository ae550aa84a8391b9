// Checks for contradictory options.
#pragma once

#include "plan/schema/plan_generated.h"
#include "tools/trainrun/options.h"

namespace trainc {

/// Ok, or kInvalidInput naming the options and what to do: no option is silently ignored.
Status checkContradictions(const Options &options);

/// Fails with kInvalidInput if the run neither trains nor names weights, of which the plan has some.
Status checkHasWeights(const fb::Plan &plan, const Options &options);

} // namespace trainc
