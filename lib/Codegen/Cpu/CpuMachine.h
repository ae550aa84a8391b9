// What CPUs can do, for estimates.
#pragma once

#include "runtime/cost/cluster_file.h"

namespace trainc::codegen {

/// Two cores with AVX-512 and instructions for bf16, which all ranks share.
const Cluster &referenceCpu();

/// What one of `ranks` has of the machine that compiles: its cores and vector width, with rates per core as
/// measured in docs/measurements; those of bf16 products on the matrix unit are estimated.
Machine thisCpu(int64_t ranks);

} // namespace trainc::codegen
