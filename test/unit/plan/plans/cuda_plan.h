// Hand-made plans for GPUs.
#pragma once

#include "test/unit/plan/plans/plan_builder.h"

namespace trainc::test {

/// The same plan for GPUs: with the code of test_kernels.ptx, whose blocks are of 256 threads.
PlanBuilder forCuda(PlanBuilder builder);

/// The same plan for GPUs: with the code of a file of PTX, whose blocks are of so many threads.
PlanBuilder forCuda(PlanBuilder builder, const char *ptx, uint32_t threads);

/// A plan for GPUs with a kernel of the host. init makes x = 1 / w, the host y = x + x, and the GPU w = 1 /
/// y.
PlanBuilder hostKernelsPlan();

/// wideningPlan() for GPUs, where kernels make all sums, each in a workspace of its own of two rounds or
/// more. There is no code for them.
PlanBuilder rankSumsPlan(uint32_t ranks, uint32_t shardRanks);

} // namespace trainc::test
