#include "runtime/exec/executor.h"

#include "base/refusals.h"
#include "plan/facts/dtype.h"
#include "plan/facts/memory_by_kind.h"
#include "plan/facts/state.h"
#include "plan/facts/view.h"
#include "plan/schema/limits.h"
#include "runtime/exec/agreement.h"

#include <algorithm>

namespace trainc {

namespace {

constexpr uint64_t kClearedAtOnce = uint64_t{1} << 20;

uint64_t elementsOf(const flatbuffers::Vector<uint64_t> &shape) {
  uint64_t elements = 1;
  for (const uint64_t dimension : shape)
    elements *= dimension;
  return elements;
}

Status checkGroup(const fb::Plan &plan, const Communicator *communicator) {
  if (!communicator || communicator->ranks() == plan.ranks())
    return {};
  return invalidInput("plan '{}' is for {} ranks, found {}; start as many, or compile with --ranks={}",
                      view(plan.name()), plan.ranks(), communicator->ranks(), communicator->ranks());
}

} // namespace

/// Sums the arenas in device memory. All collectives of an entry may be in flight at once.
CommunicatorNeeds communicatorNeeds(const fb::Plan &plan) {
  CommunicatorNeeds needs{0, 1};
  for (const fb::Arena *arena : *plan.arenas())
    if (arena->space() == fb::Space::Device)
      needs.bytes += (arena->bytes() + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
  for (const fb::Entry *entry : *plan.entries())
    needs.inFlight = std::max(
        needs.inFlight, static_cast<uint32_t>(std::ranges::count(
                            *entry->instructions(), fb::Stream::Communication, &fb::Instruction::stream)));
  return needs;
}

Result<std::unique_ptr<Executor>> Executor::create(const fb::Plan &plan, Device &device,
                                                   ExecutorOptions options) {
  TRAINC_RETURN_IF_ERROR(checkGroup(plan, options.communicator));
  // Plans are compared before arenas are allocated, because different plans have arenas of other sizes.
  ControlChannel control(options.communicator);
  const NamedValue plans{"plan", fmt::format("checksum {:016x}", options.planChecksum)};
  TRAINC_RETURN_IF_ERROR(checkSame(control, std::span(&plans, 1)));
  std::unique_ptr<Executor> executor(new Executor(plan, device, std::move(control), options.communicator));
  if (options.communicator)
    device.onProgress([communicator = options.communicator] { communicator->noteProgress(); });
  TRAINC_RETURN_IF_ERROR(device.loadKernels(plan));
  TRAINC_RETURN_IF_ERROR(executor->allocateArenas());
  if (options.measure.any()) { // after the arenas, which have priority on memory
    TRAINC_ASSIGN_OR_RETURN(executor->measurement_,
                            Measurement::create(plan, device, executor->rank(), options.measure));
  }
  TRAINC_RETURN_IF_ERROR(executor->bindEntries());
  executor->bindInterface();
  return executor;
}

Status Executor::allocateArenas() {
  const uint64_t before = allocatedBytes();
  std::vector<DeviceAddress> arenas;
  for (const fb::Arena *arena : *plan_.arenas()) {
    const uint64_t given = allocatedBytes();
    const bool isScratch = !arena->persistent() && arena->space() == fb::Space::Device;
    const Result<DeviceAddress> address =
        isScratch ? device_.allocateScratch(view(arena->name()), arena->bytes(), communicator_)
                  : device_.allocate(view(arena->name()), arena->space(), arena->bytes(), communicator_);
    if (!address.ok()) {
      // Memory was short only if none was allocated. An arena on disk takes no memory.
      const bool isShort = arena->space() != fb::Space::Disk && allocatedBytes() == given;
      return {address.status().code(),
              address.status().message() + (isShort ? adviceOnMemory() : std::string())};
    }
    arenas.push_back(*address);
  }
  peakBytes_ = allocatedBytes() - before;
  for (const fb::Buffer *buffer : *plan_.buffers())
    buffers_.push_back(arenas[buffer->arena()] + buffer->offset());
  return {};
}

/// Names the largest consumers of memory in the plan, and the settings that reduce them.
std::string Executor::adviceOnMemory() const {
  const BytesByKind memory = memoryByKind(plan_);
  const int64_t states = memory.states(), all = memory.total();
  const char *advice = "compile with a smaller --micro-batch or a shorter --seq-len";
  if (states > all / 2)
    advice = plan_.ranks() == 1
                 ? "a smaller model needs less, and --ranks=N --zero-stage=3 divide it over processes"
                 : "a smaller model needs less, and so does each rank with more --ranks and --zero-stage=3";
  return fmt::format(
      "; of the plan's {} bytes, {} are parameters, gradients and optimizer states, whatever the batch, "
      "and {} grow with it: {}",
      all, states, all - states, advice);
}

uint64_t Executor::allocatedBytes() const {
  return device_.allocatedBytes() + (communicator_ ? communicator_->allocatedBytes() : 0);
}

Status Executor::bindEntries() {
  Refusals refusals;
  for (const fb::Entry *entry : *plan_.entries()) {
    Program program = resolveProgram(plan_, *entry, rank(), buffers_);
    BoundEntry bound{program.name, {}, firstStateWrite(plan_, program), nullptr};
    Result<std::unique_ptr<Executable>> executable =
        device_.prepare(std::move(program), communicator_, measurement_.get());
    if (!executable.ok()) {
      TRAINC_RETURN_IF_ERROR(refusals.keep(executable.status()));
      continue;
    }
    bound.executable = std::move(*executable);
    if (measurement_)
      measurement_->reserve(bound.executable->program());
    if (entry->inputs())
      for (const fb::Input *input : *entry->inputs())
        bound.inputs.push_back(
            {input, {buffers_[input->buffer()], elementsOf(*input->shape()) * elementBytes(input->dtype())}});
    entries_.push_back(std::move(bound));
  }
  return refusals.all();
}

void Executor::bindInterface() {
  for (const fb::State *state : *plan_.states())
    states_.push_back(bindState(*state));
  scalars_.bind(plan_, buffers_);
}

/// Intersects the tensor with the rank's shard of the flat tensor.
StateView Executor::bindState(const fb::State &state) const {
  const uint64_t element = elementBytes(state.dtype());
  const uint64_t held = plan_.buffers()->Get(state.buffer())->bytes() / element;
  const std::optional<RankGroupShape> group = shardingOf(plan_, state);
  const uint64_t place = group ? group->placeOf(rank()) : 0;
  const uint64_t partBegin = place * held;
  const uint64_t tensorEnd = state.offset() + elementsOf(*state.shape());
  const uint64_t begin = std::clamp(partBegin, state.offset(), tensorEnd);
  const uint64_t end = std::clamp(partBegin + held, begin, tensorEnd);
  if (begin == end)
    return {&state, 0, {}};
  const DeviceAddress data = buffers_[state.buffer()] + (begin - partBegin) * element;
  return {&state, begin - state.offset(), {data, (end - begin) * element}};
}

Status Executor::checkRanks() const {
  if (control_.ranks() == plan_.ranks())
    return {};
  return failed(
      "plan '{}' is for {} ranks, and this is one without peers; start as many ranks, or compile with "
      "--ranks=1",
      view(plan_.name()), plan_.ranks());
}

Status Executor::run(std::string_view entry) {
  TRAINC_RETURN_IF_ERROR(enqueue(entry));
  return waitForCopies();
}

Status Executor::enqueue(std::string_view name) {
  const BoundEntry *entry = findEntry(name);
  assert(entry && "ask hasEntry() first");
  TRAINC_RETURN_IF_ERROR(checkRanks());
  const auto end = static_cast<uint32_t>(entry->executable->program().steps.size());
  uint32_t begin = 0;
  if (beforeStateWrite_ && entry->firstStateWrite < end) {
    begin = entry->firstStateWrite;
    device_.enqueue(*entry->executable, {0, begin});
    std::exchange(beforeStateWrite_, nullptr)();
  }
  device_.enqueue(*entry->executable, {begin, end});
  return {};
}

std::optional<CommunicationSeconds> Executor::communicationSeconds() {
  if (!communicator_)
    return std::nullopt;
  const std::optional<CommunicationSeconds> known = communicator_->seconds();
  return known || !measurement_ ? known : measurement_->communication();
}

Status Executor::synchronise() { return ended(device_.synchronise()); }

Status Executor::waitForCopies() { return ended(device_.waitForCopies()); }

/// Reports a failure to the other ranks at once. Otherwise they may wait for a collective that never comes,
/// while this rank waits for them before it ends.
Status Executor::ended(Status status) {
  scalars_.clearStaged();
  if (status.ok())
    return status;
  broken_ = true;
  if (communicator_)
    communicator_->fail(status.message());
  return status;
}

Status Executor::read(std::span<std::byte> bytes, DeviceSpan memory) {
  device_.read(bytes, memory.address);
  return synchronise();
}

Result<std::optional<NonFinite>> Executor::replay(std::string_view name) {
  const BoundEntry *entry = findEntry(name);
  assert(entry && "ask hasEntry() first");
  TRAINC_RETURN_IF_ERROR(checkRanks());
  TRAINC_RETURN_IF_ERROR(waitForCopies());
  TRAINC_RETURN_IF_ERROR(clearScratch());
  Result<std::optional<NonFinite>> found = replayProgram(*entry->executable, device_, control_);
  TRAINC_RETURN_IF_ERROR(ended(found.status()));
  return found;
}

/// Clears scratch memory before a replay. Some instructions write a part of an operand and leave the rest to
/// later ones; leftovers of the failed step must not be attributed to them.
Status Executor::clearScratch() {
  uint64_t largest = 0;
  for (const fb::Buffer *buffer : *plan_.buffers())
    largest = std::max(largest, buffer->bytes());
  const std::vector<std::byte> zeros(std::min(largest, kClearedAtOnce));
  for (uint32_t i = 0; i < plan_.buffers()->size(); ++i) {
    const fb::Buffer &buffer = *plan_.buffers()->Get(i);
    const fb::Arena &arena = *plan_.arenas()->Get(buffer.arena());
    if (arena.persistent() || arena.space() != fb::Space::Device || buffer.role() == fb::Role::Input)
      continue;
    for (uint64_t done = 0; done < buffer.bytes(); done += zeros.size())
      device_.write(buffers_[i] + done,
                    std::span(zeros).first(std::min(zeros.size(), buffer.bytes() - done)));
  }
  return synchronise();
}

std::span<const InputView> Executor::inputs(std::string_view name) const {
  const BoundEntry *entry = findEntry(name);
  return entry ? std::span<const InputView>(entry->inputs) : std::span<const InputView>();
}

DeviceSpan Executor::buffer(uint32_t index) const {
  return {buffers_[index], plan_.buffers()->Get(index)->bytes()};
}

const Executor::BoundEntry *Executor::findEntry(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &BoundEntry::name);
  return found == entries_.end() ? nullptr : &*found;
}

} // namespace trainc
