#include "runtime/training/state_tensors.h"

#include "runtime/plan/dtype.h"

namespace trainc {

std::vector<StateTensor> stateTensors(const Executor &executor, fb::Role role) {
  std::vector<StateTensor> tensors;
  for (const StateView &state : executor.states())
    if (state.info->role() == role)
      tensors.push_back({.name = state.info->name()->str(),
                         .dtype = state.info->dtype(),
                         .shape = {state.info->shape()->begin(), state.info->shape()->end()},
                         .bytes = state.bytes,
                         .firstByte = state.first * elementBytes(state.info->dtype()),
                         .divided = state.info->divided()});
  return tensors;
}

} // namespace trainc
