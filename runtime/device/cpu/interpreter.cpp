#include "runtime/device/cpu/interpreter.h"

#include "runtime/base/clock.h"
#include "runtime/comm/communicator.h"
#include "runtime/device/cpu/cpu_device.h"

#include <algorithm>

namespace trainc {

Interpreter::Interpreter(Program program, CpuDevice &device, Communicator *communicator,
                         StepObserver *observer)
    : Executable(std::move(program)), device_(device), communicator_(communicator), observer_(observer),
      tickets_(this->program().steps.size()) {
  for (const Address &address : this->program().args)
    args_.push_back(address.base.pointer());
}

Status Interpreter::run(StepRange steps) {
  for (const Block &block : program().blocks) {
    const uint32_t begin = std::max(block.begin, steps.begin), end = std::min(block.end, steps.end);
    for (uint64_t iteration = 0; iteration < block.iterations; ++iteration)
      for (uint32_t i = begin; i < end; ++i)
        TRAINC_RETURN_IF_ERROR(issue(i, iteration));
  }
  return lastStarted_ == kNone ? Status() : waitFor(lastStarted_);
}

Status Interpreter::runAlone(uint32_t index, uint64_t iteration) {
  TRAINC_RETURN_IF_ERROR(issue(index, iteration));
  return std::holds_alternative<CollectiveStep>(program().steps[index].operation) ? waitFor(index) : Status();
}

Status Interpreter::issue(uint32_t index, uint64_t iteration) {
  if (communicator_)
    communicator_->noteProgress();
  const Step &step = program().steps[index];
  TRAINC_RETURN_IF_ERROR(waitForOthers(step));
  const bool isObserved = observer_ && observer_->isListening();
  const double begin = isObserved ? steadySeconds() : 0;
  if (const auto *collective = std::get_if<CollectiveStep>(&step.operation))
    start(index, *collective);
  else
    TRAINC_RETURN_IF_ERROR(compute(step, iteration));
  if (isObserved)
    observer_->onStep(step, {begin, steadySeconds()});
  return {};
}

/// What is no collective has run when the steps behind it do.
Status Interpreter::waitForOthers(const Step &step) {
  for (const uint32_t other : program().afterOf(step))
    if (program().steps[other].stream == fb::Stream::Communication)
      TRAINC_RETURN_IF_ERROR(waitFor(other));
  return {};
}

Status Interpreter::waitFor(uint32_t collective) {
  const Ticket ticket = tickets_[collective];
  if (ticket < done_)
    return {};
  const Step &step = program().steps[collective];
  const bool isObserved = observer_ && observer_->isListening();
  const double begin = isObserved ? steadySeconds() : 0;
  TRAINC_RETURN_IF_ERROR(located(program(), step, communicator_->wait(ticket)));
  done_ = ticket + 1;
  if (isObserved)
    observer_->onWait(step, {begin, steadySeconds()});
  return {};
}

/// Peers may read the sources as soon as it has begun: what writes them has run, as it stands before.
void Interpreter::start(uint32_t index, const CollectiveStep &collective) {
  tickets_[index] = communicator_->start(
      {.kind = collective.kind, .group = collective.group, .ranges = program().rangesOf(collective)});
  lastStarted_ = index;
}

Status Interpreter::compute(const Step &step, uint64_t iteration) {
  if (const auto *each = std::get_if<LaunchStep>(&step.operation))
    device_.launch(each->kernel, argsOf(each->argsBegin, each->argsCount, iteration), each->grid);
  else if (const auto *call = std::get_if<LibraryStep>(&step.operation))
    device_.call(*step.instruction, argsOf(call->argsBegin, call->argsCount, iteration));
  else if (const auto *copy = std::get_if<CopyStep>(&step.operation))
    return device_.copy(copy->destination.at(iteration), copy->source.at(iteration), copy->bytes);
  else {
    const auto &zero = std::get<ZeroStep>(step.operation);
    device_.zero(zero.destination.at(iteration).pointer(), zero.bytes);
  }
  return {};
}

void *const *Interpreter::argsOf(uint32_t begin, uint32_t count, uint64_t iteration) {
  for (uint32_t i = begin; i < begin + count; ++i)
    if (const Address &address = program().args[i]; address.stride != 0)
      args_[i] = address.at(iteration).pointer();
  return args_.data() + begin;
}

} // namespace trainc
