// `trainc dump`: a plan file as text.
#pragma once

#include "runtime/schema/plan_generated.h"

#include <string>

namespace trainc {

/// The plan as text: memory, states, inputs and every instruction with its operands and source. The plan must
/// be verified.
std::string dumpPlan(const fb::Plan &plan);

} // namespace trainc
