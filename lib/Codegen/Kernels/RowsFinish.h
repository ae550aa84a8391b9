// Launches that combine the partial reductions of a row kernel's tiles.
#pragma once

#include "lib/Codegen/Kernels/KernelFunction.h"
#include "lib/Codegen/Kernels/RowsPlan.h"

namespace trainc::codegen {

/// Adds the launches that combine the tiles' partial results: at most two, each for all reductions of one
/// width.
void summariseFinish(const RowsPlan &plan, KernelSummary &kernels);
/// Generates the code of a launch that summariseFinish() added, and returns its symbol.
std::string emitFinish(const RowsPlan &plan, const LaunchSummary &launch, KernelModule &kernels);

} // namespace trainc::codegen
