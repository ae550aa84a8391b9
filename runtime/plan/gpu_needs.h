// Which GPUs can run a plan that is for GPUs.
#pragma once

#include "runtime/base/status.h"
#include "runtime/schema/plan_generated.h"

#include <string>
#include <string_view>

namespace trainc {

/// "compute capability 8.9 or higher (products of fp8)".
std::string neededGpu(const fb::Plan &plan);

/// Fails (kInvalidInput) where a GPU of that compute capability cannot run the plan: a line for each reason,
/// with what to do. `gpu` is its name for messages.
Status checkGpuCapability(const fb::Plan &plan, int major, int minor, std::string_view gpu);

} // namespace trainc
