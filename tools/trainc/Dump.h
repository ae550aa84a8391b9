// `trainc dump`: a plan file as text.
#pragma once

#include "runtime/schema/plan_generated.h"

#include "runtime/base/status.h"

#include <string>

namespace trainc {

/// The plan as text: memory, states, inputs and every instruction with its operands and source. The plan must
/// be verified.
std::string dumpPlan(const fb::Plan &plan);

/// A line for each setting that the plan was compiled with: its word, its value, and where that comes from.
/// Fails where the plan's report does not say.
Result<std::string> dumpSettings(const fb::Plan &plan);

} // namespace trainc
