#include "runtime/device/cpu/interpreter.h"

#include "runtime/comm/communicator.h"
#include "runtime/device/cpu/cpu_device.h"

#include <algorithm>

namespace trainc {

Interpreter::Interpreter(Program program, CpuDevice &device, Communicator *communicator,
                         StepObserver *observer)
    : Executable(std::move(program)), device_(device), communicator_(communicator),
      times_(device, observer, this->program().steps.size()), tickets_(this->program().steps.size()) {
  for (const Address &address : this->program().args)
    args_.push_back(address.base.pointer());
}

Status Interpreter::run(StepRange steps) {
  times_.begin();
  const Status status = runAll(steps);
  times_.end(status.ok());
  return status;
}

Status Interpreter::runAll(StepRange steps) {
  const Status issued = issueAll(steps);
  if (!issued.ok() && lastCopy_ != kNone) // it uses memory that may go
    (void)device_.waitForDisk(tickets_[lastCopy_]);
  return issued.ok() ? waitForLast() : issued;
}

Status Interpreter::issueAll(StepRange steps) {
  for (const Block &block : program().blocks) {
    const uint32_t begin = std::max(block.begin, steps.begin), end = std::min(block.end, steps.end);
    for (uint64_t iteration = 0; iteration < block.iterations; ++iteration)
      for (uint32_t i = begin; i < end; ++i)
        TRAINC_RETURN_IF_ERROR(issue(i, iteration));
  }
  return {};
}

Status Interpreter::waitForLast() {
  for (const uint32_t last : {lastCollective_, lastCopy_})
    if (last != kNone)
      TRAINC_RETURN_IF_ERROR(waitFor(last));
  return {};
}

/// Whether the step is done beside those behind it.
static bool runsBeside(const Step &step) {
  return step.stream == fb::Stream::Communication || step.stream == fb::Stream::Disk;
}

Status Interpreter::runAlone(uint32_t index, uint64_t iteration) {
  times_.begin();
  Status status = issue(index, iteration);
  if (status.ok() && runsBeside(program().steps[index]))
    status = waitFor(index);
  times_.end(status.ok());
  return status;
}

Status Interpreter::issue(uint32_t index, uint64_t iteration) {
  if (communicator_)
    communicator_->noteProgress();
  const Step &step = program().steps[index];
  TRAINC_RETURN_IF_ERROR(waitForOthers(step));
  if (const auto *collective = std::get_if<CollectiveStep>(&step.operation)) {
    start(index, *collective);
  } else if (step.stream == fb::Stream::Disk) {
    start(index, std::get<CopyStep>(step.operation), iteration);
  } else {
    const double begin = times_.now();
    compute(step, iteration);
    times_.noteStep(step, begin);
  }
  return {};
}

/// All else has run when the steps behind it do.
Status Interpreter::waitForOthers(const Step &step) {
  for (const uint32_t other : program().afterOf(step))
    if (runsBeside(program().steps[other]))
      TRAINC_RETURN_IF_ERROR(waitFor(other));
  return {};
}

Status Interpreter::waitFor(uint32_t other) {
  const uint64_t ticket = tickets_[other];
  const Step &step = program().steps[other];
  const bool isCopy = step.stream == fb::Stream::Disk;
  if (!isCopy && ticket < done_)
    return {};
  const double begin = times_.now();
  TRAINC_RETURN_IF_ERROR(isCopy ? waitForCopy(ticket)
                                : located(program(), step, communicator_->wait(ticket)));
  if (!isCopy)
    done_ = ticket + 1;
  times_.noteWait(step, begin);
  return {};
}

/// One that was started before it may be the one that failed.
Status Interpreter::waitForCopy(uint64_t ticket) {
  const Status status = device_.waitForDisk(ticket);
  if (status.ok())
    return status;
  for (uint32_t i = 0; i < tickets_.size(); ++i)
    if (const Step &step = program().steps[i];
        step.stream == fb::Stream::Disk && tickets_[i] == device_.failedOnDisk())
      return located(program(), step, status);
  return status;
}

/// Peers may read the sources as soon as it has begun: what writes them has run, as it stands before.
void Interpreter::start(uint32_t index, const CollectiveStep &collective) {
  tickets_[index] = communicator_->start({.kind = collective.kind,
                                          .group = collective.group,
                                          .ranges = program().rangesOf(collective),
                                          .ran = times_.beside(program().steps[index], index)});
  lastCollective_ = index;
}

void Interpreter::start(uint32_t index, const CopyStep &copy, uint64_t iteration) {
  tickets_[index] = device_.startOnDisk(copy.destination.at(iteration), copy.source.at(iteration), copy.bytes,
                                        times_.beside(program().steps[index], index));
  lastCopy_ = index;
}

void Interpreter::compute(const Step &step, uint64_t iteration) {
  if (const auto *each = std::get_if<LaunchStep>(&step.operation))
    device_.launch(each->kernel, argsOf(each->argsBegin, each->argsCount, iteration), each->grid);
  else if (const auto *call = std::get_if<LibraryStep>(&step.operation))
    device_.call(*step.instruction, argsOf(call->argsBegin, call->argsCount, iteration));
  else if (const auto *copy = std::get_if<CopyStep>(&step.operation))
    device_.copy(copy->destination.at(iteration).pointer(), copy->source.at(iteration).pointer(),
                 copy->bytes);
  else {
    const auto &zero = std::get<ZeroStep>(step.operation);
    device_.zero(zero.destination.at(iteration).pointer(), zero.bytes);
  }
}

void *const *Interpreter::argsOf(uint32_t begin, uint32_t count, uint64_t iteration) {
  for (uint32_t i = begin; i < begin + count; ++i)
    if (const Address &address = program().args[i]; address.stride != 0)
      args_[i] = address.at(iteration).pointer();
  return args_.data() + begin;
}

} // namespace trainc
