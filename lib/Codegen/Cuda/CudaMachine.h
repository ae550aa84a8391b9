// What GPUs can do, for estimates.
#pragma once

#include "lib/Analysis/CostModel.h"

namespace trainc::codegen {

/// An H100 SXM in a machine of eight, from its data sheet (NVIDIA H100 Tensor Core GPU, 2024) and what
/// kernels reach of it: 80 % of dense products, 90 % of the memory's bandwidth, 75 % of NVLink's each way.
Machine referenceGpu();

} // namespace trainc::codegen
