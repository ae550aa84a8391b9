#include "runtime/training/state_tensors.h"

#include "plan/facts/dtype.h"
#include "plan/facts/state.h"
#include "plan/facts/view.h"
#include "runtime/state/float_rounding.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace trainc {

namespace {

/// Prefixes an error of a device copy with the state's name; returns any other status unchanged.
Status located(const fb::State &state, Status status) {
  if (status.ok())
    return status;
  return Status(status.code(), fmt::format("copying '{}': {}", view(state.name()), status.message()));
}

/// The bytes in place if the host can access them, else through device copies in pieces.
TensorMemory memoryOf(Device &device, const StateView &state) {
  const DeviceSpan memory = state.memory;
  if (const std::span<std::byte> view = device.hostView(memory); view.size() == memory.bytes)
    return view;
  return {memory.bytes,
          [&device, state](std::span<std::byte> destination, uint64_t offset) {
            return located(*state.info, device.readBeside(destination, state.memory.address + offset));
          },
          [&device, state](uint64_t offset, std::span<const std::byte> source) {
            return located(*state.info, device.writeBeside(state.memory.address + offset, source));
          }};
}

/// The first description that `describe(tensor, begin, piece)` returns of pieces of parameters, which begin
/// at the tensor's byte `begin`.
template <typename Describe>
Result<std::optional<std::string>> describeParameter(Executor &executor, const Describe &describe) {
  constexpr uint64_t kPieceBytes = uint64_t{1} << 20;
  std::vector<std::byte> staging;
  for (const StateTensor &tensor : stateTensors(executor, fb::Role::Parameter)) {
    for (uint64_t begin = 0; begin < tensor.bytes.size(); begin += kPieceBytes) {
      TRAINC_ASSIGN_OR_RETURN(
          const std::span<const std::byte> piece,
          tensor.bytes.read(begin, std::min(kPieceBytes, tensor.bytes.size() - begin), staging));
      if (const std::optional<std::string> found = describe(tensor, tensor.firstByte + begin, piece))
        return found;
    }
  }
  return std::optional<std::string>();
}

std::optional<std::string> describeHuge(const StateTensor &tensor, uint64_t begin,
                                        std::span<const std::byte> piece) {
  constexpr float kHuge = 1e30F;
  if (tensor.dtype != fb::DType::F32)
    return std::nullopt;
  for (size_t offset = 0; offset + sizeof(float) <= piece.size(); offset += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, piece.data() + offset, sizeof(value));
    if (std::abs(value) > kHuge)
      return fmt::format("parameter '{}' holds {} in element {}", tensor.name, value,
                         (begin + offset) / sizeof(float));
  }
  return std::nullopt;
}

} // namespace

std::vector<StateTensor> stateTensors(Executor &executor, fb::Role role) {
  std::vector<StateTensor> tensors;
  for (const StateView &state : executor.states())
    if (state.info->role() == role)
      tensors.push_back({.name = state.info->name()->str(),
                         .dtype = state.info->dtype(),
                         .shape = {state.info->shape()->begin(), state.info->shape()->end()},
                         .bytes = memoryOf(executor.device(), state),
                         .firstByte = state.first * elementBytes(state.info->dtype()),
                         .sharded = shardingOf(executor.plan(), *state.info)});
  return tensors;
}

Result<std::optional<std::string>> findNonFiniteParameter(Executor &executor) {
  return describeParameter(executor, describeNonFinite);
}

Result<std::optional<std::string>> findHugeParameter(Executor &executor) {
  return describeParameter(executor, describeHuge);
}

} // namespace trainc
