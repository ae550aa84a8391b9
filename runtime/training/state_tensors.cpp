#include "runtime/training/state_tensors.h"

#include "runtime/plan/dtype.h"

namespace trainc {

namespace {

/// The bytes themselves where the host reaches them, else in pieces that the device copies.
TensorMemory memoryOf(Device &device, DeviceSpan memory) {
  if (const std::span<std::byte> view = device.hostView(memory); view.size() == memory.bytes)
    return view;
  return {memory.bytes,
          [&device, memory](std::span<std::byte> destination, uint64_t offset) {
            device.readBeside(destination, memory.address + offset);
          },
          [&device, memory](uint64_t offset, std::span<const std::byte> source) {
            device.writeBeside(memory.address + offset, source);
          }};
}

} // namespace

std::vector<StateTensor> stateTensors(Executor &executor, fb::Role role) {
  std::vector<StateTensor> tensors;
  for (const StateView &state : executor.states())
    if (state.info->role() == role)
      tensors.push_back({.name = state.info->name()->str(),
                         .dtype = state.info->dtype(),
                         .shape = {state.info->shape()->begin(), state.info->shape()->end()},
                         .bytes = memoryOf(executor.device(), state.memory),
                         .firstByte = state.first * elementBytes(state.info->dtype()),
                         .divided = state.info->divided()});
  return tensors;
}

} // namespace trainc
