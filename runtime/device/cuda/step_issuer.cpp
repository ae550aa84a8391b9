#include "runtime/device/cuda/step_issuer.h"

#include "base/refusals.h"
#include "plan/facts/view.h"

namespace trainc {

/// Only the first collective is checked: all of them need NCCL, whatever they are.
Status StepIssuer::prepare() {
  Refusals refusals;
  for (const Step &step : program_.steps) {
    if (std::holds_alternative<CollectiveStep>(step.operation) && !parts_.peers)
      return located(program_, step,
                     invalidInput("a collective of GPUs needs NCCL; start the ranks with --comm=nccl"));
    TRAINC_RETURN_IF_ERROR(refusals.keep(located(program_, step, prepareStep(step))));
  }
  return refusals.all();
}

Status StepIssuer::prepareStep(const Step &step) {
  callOf_.push_back(kNoCall);
  const auto *call = std::get_if<LibraryStep>(&step.operation);
  if (!call)
    return {};
  const std::span<const Address> operands = args(call->argsBegin, call->argsCount);
  const fb::MatrixProduct *product = step.instruction->operation_as_MatrixProduct();
  return product ? prepareProduct(*product, operands)
                 : prepareAttention(*step.instruction->operation_as_Attention(), operands);
}

Status StepIssuer::prepareProduct(const fb::MatrixProduct &product, std::span<const Address> operands) {
  if (!parts_.products) {
    TRAINC_ASSIGN_OR_RETURN(LtHandle handle, LtHandle::create());
    parts_.products.emplace(std::move(handle));
  }
  TRAINC_ASSIGN_OR_RETURN(LtProduct made, LtProduct::create(*parts_.products, product, operands));
  callOf_.back() = static_cast<uint32_t>(products_.size());
  products_.push_back(std::move(made));
  return {};
}

/// All library calls are on one stream, so one handle suffices.
Status StepIssuer::prepareAttention(const fb::Attention &attention, std::span<const Address> operands) {
  if (!parts_.attention) {
    TRAINC_ASSIGN_OR_RETURN(CudnnHandle handle, CudnnHandle::create(parts_.streams.of(fb::Stream::Compute)));
    parts_.attention.emplace(std::move(handle));
  }
  TRAINC_ASSIGN_OR_RETURN(CudnnAttention made,
                          CudnnAttention::create(*parts_.attention, parts_.context, attention, operands));
  callOf_.back() = static_cast<uint32_t>(attentions_.size());
  attentions_.push_back(std::move(made));
  return {};
}

Status StepIssuer::issue(uint32_t index, uint64_t iteration, HostWork &host) {
  const Step &step = program_.steps[index];
  return located(program_, step, issueStep(index, step, iteration, host));
}

Status StepIssuer::issueStep(uint32_t index, const Step &step, uint64_t iteration, HostWork &host) {
  const CUstream stream = parts_.streams.of(step.stream);
  if (const auto *each = std::get_if<LaunchStep>(&step.operation))
    return launch(step, *each, iteration, host.launches);
  if (const auto *call = std::get_if<LibraryStep>(&step.operation))
    return callLibrary(index, *call, iteration, stream);
  if (const auto *each = std::get_if<CopyStep>(&step.operation))
    return copy(step, *each, iteration, host.disk);
  if (const auto *each = std::get_if<CollectiveStep>(&step.operation))
    return meet(step, *each);
  const auto &zero = std::get<ZeroStep>(step.operation);
  return driver().cuMemsetD8Async(zero.destination.at(iteration).value(), 0, zero.bytes, stream);
}

Status StepIssuer::callLibrary(uint32_t index, const LibraryStep &call, uint64_t iteration, CUstream stream) {
  const std::span<const Address> operands = args(call.argsBegin, call.argsCount);
  if (program_.steps[index].instruction->operation_as_Attention())
    return attentions_[callOf_[index]].enqueue(*parts_.attention, operands, iteration);
  return products_[callOf_[index]].enqueue(*parts_.products, operands, iteration, stream);
}

Status StepIssuer::meet(const Step &step, const CollectiveStep &collective) {
  const std::string place =
      placeText(*program_.plan, program_.name, std::to_string(step.index), *step.instruction);
  return parts_.peers->enqueue(collectiveOf(collective), parts_.streams.of(step.stream), place);
}

void StepIssuer::noteRun(StepRange range) const {
  for (uint32_t i = range.begin; i < range.end; ++i)
    if (const auto *collective = std::get_if<CollectiveStep>(&program_.steps[i].operation))
      parts_.peers->noteRun(collectiveOf(*collective));
}

Status StepIssuer::launch(const Step &step, const LaunchStep &launch, uint64_t iteration,
                          HostLaunches &onHost) {
  std::vector<DeviceAddress> values;
  for (const Address &address : args(launch.argsBegin, launch.argsCount))
    values.push_back(address.at(iteration));
  if (step.stream == fb::Stream::HostCompute)
    return onHost.enqueue(*parts_.hostKernels, launch, values, parts_.streams.of(step.stream));
  return parts_.kernels.launch(launch.kernel, values, parts_.streams.main());
}

Status StepIssuer::copy(const Step &step, const CopyStep &copy, uint64_t iteration, DiskTransfers &disk) {
  const DeviceAddress source = copy.source.at(iteration), destination = copy.destination.at(iteration);
  const CUstream stream = parts_.streams.of(step.stream);
  switch (step.stream) {
  case fb::Stream::Disk:
    return disk.enqueue(program_, step, copy, iteration, stream);
  case fb::Stream::CopyIn:
    return driver().cuMemcpyHtoDAsync(destination.value(), source.pointer(), copy.bytes, stream);
  case fb::Stream::CopyOut:
    return driver().cuMemcpyDtoHAsync(destination.pointer(), source.value(), copy.bytes, stream);
  case fb::Stream::Compute:
  case fb::Stream::Communication:
  case fb::Stream::HostCompute:
    break;
  }
  return driver().cuMemcpyDtoDAsync(destination.value(), source.value(), copy.bytes, stream);
}

} // namespace trainc
