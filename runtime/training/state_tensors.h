// An executor's states as tensors for loading and for checkpoints.
#pragma once

#include "runtime/exec/executor.h"
#include "runtime/state/state_tensor.h"

namespace trainc {

/// The states of `role` (Parameter or Optimizer), in plan order, restricted to the elements that this rank
/// holds in the executor's memory.
std::vector<StateTensor> stateTensors(Executor &executor, fb::Role role);

} // namespace trainc
