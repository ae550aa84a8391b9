// Hand-made plans for GPUs.
#pragma once

#include "test/unit/runtime/plans/plan_builder.h"

namespace trainc::test {

/// The same plan for GPUs: with the code of test_kernels.ptx, whose blocks are of 256 threads.
PlanBuilder forCuda(PlanBuilder builder);

} // namespace trainc::test
