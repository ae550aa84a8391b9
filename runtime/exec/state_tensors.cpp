#include "runtime/exec/state_tensors.h"

namespace trainc {

std::vector<StateTensor> stateTensors(const Executor &executor, fb::Role role) {
  std::vector<StateTensor> tensors;
  for (const StateView &state : executor.states())
    if (state.info->role() == role)
      tensors.push_back({state.info->name()->str(),
                         state.info->dtype(),
                         {state.info->shape()->begin(), state.info->shape()->end()},
                         state.bytes});
  return tensors;
}

} // namespace trainc
