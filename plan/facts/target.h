// The kind of device that a plan is for.
#pragma once

#include "plan/facts/view.h"
#include "plan/schema/cuda_levels.h"

namespace trainc {

/// Whether the plan is for NVIDIA GPUs.
inline bool isForCuda(const fb::Plan &plan) { return view(plan.target()) == kCudaTarget; }

} // namespace trainc
