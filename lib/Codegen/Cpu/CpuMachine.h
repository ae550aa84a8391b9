// Rates of CPUs, for predictions.
#pragma once

#include "plan/cost/cluster_file.h"

namespace trainc::codegen {

/// Two cores with AVX-512 and bf16 instructions, shared by all ranks.
const Cluster &referenceCpu();

/// Returns the share of the compiling machine of one of `ranks`: its cores and vector width, with rates per
/// core as measured in docs/measurements. Rates of bf16 products on the matrix unit are estimated.
Machine thisCpu(int64_t ranks);

} // namespace trainc::codegen
