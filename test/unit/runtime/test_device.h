// The device that a test of the runtime runs on, and plans for it.
#pragma once

#include "runtime/device/device.h"
#include "test/unit/plan/plans/plan_builder.h"

#include <memory>

namespace trainc::test {

/// The CPU; or as the environment says: with TRAINC_TEST_SEED=N the emulated asynchronous device with that
/// seed, with TRAINC_TEST_DEVICE=cuda the first GPU.
std::unique_ptr<Device> testDevice(unsigned threads = 1);

/// Whether that is a GPU, on which plans need kernels of their own, and ranks NCCL.
bool testsOnCuda();

/// A plan of the kernels of test_kernels.c, for that device.
PlanBuilder forTestDevice(PlanBuilder builder);

} // namespace trainc::test
