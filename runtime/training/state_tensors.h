// An executor's states as tensors for loading and for checkpoints.
#pragma once

#include "runtime/exec/executor.h"
#include "runtime/state/state_tensor.h"

#include <optional>

namespace trainc {

/// The states of `role` (Parameter or Optimizer), in plan order, restricted to the elements that this rank
/// holds in the executor's memory.
std::vector<StateTensor> stateTensors(Executor &executor, fb::Role role);

/// Returns the first parameter that holds a NaN or infinity in this rank's memory, as "parameter 'w' holds
/// nan in element 3"; nothing if all are finite. Fails as a device's copy does.
Result<std::optional<std::string>> findNonFiniteParameter(Executor &executor);

/// Returns the first parameter of f32 that holds a magnitude above 1e30, which products soon make infinite.
Result<std::optional<std::string>> findHugeParameter(Executor &executor);

} // namespace trainc
