#include "runtime/device/cpu/interpreter.h"

#include "plan/facts/outlasting.h"
#include "runtime/comm/communicator.h"
#include "runtime/device/cpu/cpu_device.h"

#include <algorithm>
#include <utility>

namespace trainc {

/// Index of an instruction's first step.
static uint32_t firstStepOf(const Program &program, uint32_t instruction) {
  const auto step = std::ranges::lower_bound(program.steps, instruction, {}, &Step::index);
  return static_cast<uint32_t>(step - program.steps.begin());
}

Interpreter::Interpreter(Program program, CpuDevice &device, Communicator *communicator,
                         StepObserver *observer)
    : Executable(std::move(program)), device_(device), communicator_(communicator),
      times_(device, observer, this->program().steps.size()), tickets_(this->program().steps.size()) {
  for (const Address &address : this->program().args)
    args_.push_back(address.base.pointer());
  for (const uint32_t copy : outlastingCopies(*this->program().plan, *this->program().entry))
    outlasting_.push_back(firstStepOf(this->program(), copy));
  for (uint32_t i = 0; i < this->program().steps.size(); ++i)
    if (this->program().steps[i].stream == fb::Stream::Disk &&
        (outlasting_.empty() || i < outlasting_.front()))
      lastWithin_ = i;
}

Interpreter::~Interpreter() {
  if (Interpreter *left = device_.takeOutlasting(); left == this)
    (void)endOutlasting();
  else if (left)
    device_.leaveOutlasting(*left);
}

Status Interpreter::run(StepRange steps) {
  const bool isWhole = steps.end == program().steps.size(), leavesCopies = isWhole && !outlasting_.empty();
  times_.begin();
  before_ = device_.takeOutlasting();
  if (before_ && before_->program().plan != program().plan) // another plan: its memory is unknown here
    if (const Status ended = endBefore(); !ended.ok())
      return ended;
  waits_ = before_ ? &waitsForPrevious(*before_) : nullptr;
  nextWait_ = 0;
  Status status = issueAll(steps);
  if (status.ok() && isWhole && !leavesCopies)
    passOn();
  if (const Status ended = endBefore(); status.ok())
    status = ended;
  if (status.ok())
    status = waitForEnd(leavesCopies);
  if (!status.ok() && lastCopy_ != kNone) // the copy uses memory that may be freed
    (void)device_.waitForDisk(tickets_[lastCopy_]);
  times_.end(status.ok(),
             leavesCopies ? std::span<const uint32_t>(outlasting_) : std::span<const uint32_t>());
  if (status.ok() && leavesCopies) {
    outlastingEnd_ = tickets_[outlasting_.back()];
    device_.leaveOutlasting(*this);
  }
  return status;
}

// --- Copies of the previous entry ---

const std::vector<Interpreter::OutlastingStep> &Interpreter::waitsForPrevious(const Interpreter &before) {
  const auto [known, isNew] = waitsForPrevious_.try_emplace(before.program().entry);
  if (isNew)
    for (const auto [instruction, copy] :
         outlastingWaits(*program().plan, *before.program().entry, *program().entry))
      known->second.push_back({firstStepOf(program(), instruction), firstStepOf(before.program(), copy)});
  return known->second;
}

Status Interpreter::waitForBefore(uint32_t index) {
  for (; waits_ && nextWait_ < waits_->size() && (*waits_)[nextWait_].step <= index; ++nextWait_) {
    const uint32_t copy = (*waits_)[nextWait_].copy;
    const double begin = times_.now();
    TRAINC_RETURN_IF_ERROR(device_.waitForDisk(before_->tickets_[copy]));
    times_.noteWait(before_->program().steps[copy], begin);
  }
  return {};
}

/// Leaves the remaining copies of the previous entry in flight for the next one, too.
void Interpreter::passOn() {
  if (Interpreter *before = std::exchange(before_, nullptr))
    device_.leaveOutlasting(*before);
}

Status Interpreter::endBefore() {
  Interpreter *before = std::exchange(before_, nullptr);
  return before ? before->endOutlasting() : Status();
}

Status Interpreter::endOutlasting() {
  TRAINC_RETURN_IF_ERROR(device_.waitForDisk(outlastingEnd_));
  times_.tellOutlasting();
  return {};
}

// --- Steps of this entry ---

Status Interpreter::issueAll(StepRange steps) {
  for (const Block &block : program().blocks) {
    const uint32_t begin = std::max(block.begin, steps.begin), end = std::min(block.end, steps.end);
    for (uint64_t iteration = 0; iteration < block.iterations; ++iteration)
      for (uint32_t i = begin; i < end; ++i)
        TRAINC_RETURN_IF_ERROR(issue(i, iteration));
  }
  return {};
}

Status Interpreter::waitForEnd(bool leavesCopies) {
  for (const uint32_t last : {lastCollective_, leavesCopies ? lastWithin_ : lastCopy_})
    if (last != kNone)
      TRAINC_RETURN_IF_ERROR(waitFor(last));
  return {};
}

/// Whether the step runs asynchronously.
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
  TRAINC_RETURN_IF_ERROR(waitForBefore(index));
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

/// Waits for asynchronous dependencies; all others have run, because steps run in order.
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
  TRAINC_RETURN_IF_ERROR(isCopy ? device_.waitForDisk(ticket)
                                : located(program(), step, communicator_->wait(ticket)));
  if (!isCopy)
    done_ = ticket + 1;
  times_.noteWait(step, begin);
  return {};
}

/// Peers may read the sources once the collective has begun: the steps that write the sources come earlier
/// and have run.
void Interpreter::start(uint32_t index, const CollectiveStep &collective) {
  tickets_[index] = communicator_->start({.kind = collective.kind,
                                          .axes = collective.axes,
                                          .ranges = program().rangesOf(collective),
                                          .ran = times_.beside(program().steps[index], index)});
  lastCollective_ = index;
}

void Interpreter::start(uint32_t index, const CopyStep &copy, uint64_t iteration) {
  const Step &step = program().steps[index];
  tickets_[index] = device_.startOnDisk(copy.destination.at(iteration), copy.source.at(iteration), copy.bytes,
                                        {&program(), &step}, times_.beside(step, index));
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
