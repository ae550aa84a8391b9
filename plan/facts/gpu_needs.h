// GPU capabilities that a plan needs.
#pragma once

#include "base/status.h"
#include "plan/schema/plan_generated.h"

#include <string>
#include <string_view>

namespace trainc {

/// "compute capability 8.9 or higher (products of fp8)".
std::string neededGpu(const fb::Plan &plan);

/// Fails with kInvalidInput if a GPU of that compute capability cannot run the plan; the message has one line
/// per reason, with advice. `gpu` is the GPU's name.
Status checkGpuCapability(const fb::Plan &plan, int major, int minor, std::string_view gpu);

} // namespace trainc
