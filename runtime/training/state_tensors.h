// An executor's states as tensors for loading and for checkpoints.
#pragma once

#include "runtime/exec/executor.h"
#include "runtime/state/state_tensor.h"

namespace trainc {

/// The states of `role` (Parameter or Optimizer), in the plan's order, as far as this rank holds them in the
/// executor's memory.
std::vector<StateTensor> stateTensors(Executor &executor, fb::Role role);

} // namespace trainc
