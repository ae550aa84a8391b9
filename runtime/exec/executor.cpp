#include "runtime/exec/executor.h"

#include "runtime/base/clock.h"
#include "runtime/exec/agreement.h"
#include "runtime/exec/memory_by_role.h"
#include "runtime/exec/state_writes.h"
#include "runtime/plan/dtype.h"
#include "runtime/plan/view.h"

#include <algorithm>

namespace trainc {

namespace {

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

/// The plan's arenas and slots, and what Peers takes.
CommunicatorNeeds communicatorNeeds(const fb::Plan &plan) {
  constexpr uint64_t alignment = 64;
  CommunicatorNeeds needs{plan.ranks() * Peers::kValueBytes, plan.slots() + 1};
  for (const fb::Arena *arena : *plan.arenas())
    needs.bytes += (arena->bytes() + alignment - 1) / alignment * alignment;
  return needs;
}

Result<std::unique_ptr<Executor>> Executor::create(const fb::Plan &plan, Device &device,
                                                   ExecutorOptions options) {
  TRAINC_RETURN_IF_ERROR(checkGroup(plan, options.communicator));
  // Before the arenas, whose sizes differ where plans do.
  TRAINC_ASSIGN_OR_RETURN(Peers peers, Peers::create(options.communicator, plan.slots()));
  const NamedValue plans{"plan", fmt::format("checksum {:016x}", options.planChecksum)};
  TRAINC_RETURN_IF_ERROR(checkSame(peers, std::span(&plans, 1)));
  std::unique_ptr<Executor> executor(new Executor(plan, device, peers, options.communicator));
  if (options.communicator)
    device.onProgress([communicator = options.communicator] { communicator->noteProgress(); });
  TRAINC_RETURN_IF_ERROR(device.loadKernels(plan));
  TRAINC_RETURN_IF_ERROR(executor->allocateArenas());
  executor->bindInterface();
  if (options.profile) {
    executor->profiler_.emplace(plan);
    for (const Program &program : executor->programs_)
      executor->profiler_->reserve(program);
  }
  return executor;
}

/// Where there are peers they read the arenas, so the memory is the communicator's.
Status Executor::allocateArenas() {
  const uint64_t before = allocatedBytes();
  std::vector<std::byte *> arenas;
  for (const fb::Arena *arena : *plan_.arenas()) {
    const std::string_view name = view(arena->name());
    TRAINC_ASSIGN_OR_RETURN(std::byte * address, communicator_ ? communicator_->allocate(name, arena->bytes())
                                                               : device_.allocateArena(name, arena->bytes()));
    arenas.push_back(address);
  }
  peakBytes_ = allocatedBytes() - before;
  for (const fb::Buffer *buffer : *plan_.buffers())
    buffers_.push_back(arenas[buffer->arena()] + buffer->offset());
  return {};
}

void Executor::bindInterface() {
  for (const fb::Entry *entry : *plan_.entries()) {
    Program &program = programs_.emplace_back(resolveProgram(plan_, *entry, rank(), buffers_));
    program.firstStateWrite = firstStateWrite(plan_, program);
    if (entry->inputs())
      for (const fb::Input *input : *entry->inputs())
        program.inputs.push_back(
            {input, {buffers_[input->buffer()], elementsOf(*input->shape()) * elementBytes(input->dtype())}});
  }
  for (const fb::State *state : *plan_.states())
    states_.push_back(bindState(*state));
  for (const fb::Scalar *scalar : *plan_.scalars())
    scalars_.push_back({view(scalar->name()), buffers_[scalar->buffer()], elementBytes(scalar->dtype())});
}

/// The elements that the tensor and the rank's part of the flat tensor have in common.
StateView Executor::bindState(const fb::State &state) const {
  const uint64_t element = elementBytes(state.dtype());
  const uint64_t held = plan_.buffers()->Get(state.buffer())->bytes() / element;
  const uint64_t partBegin = state.divided() ? rank() % plan_.shard_ranks() * held : 0;
  const uint64_t tensorEnd = state.offset() + elementsOf(*state.shape());
  const uint64_t begin = std::clamp(partBegin, state.offset(), tensorEnd);
  const uint64_t end = std::clamp(partBegin + held, begin, tensorEnd);
  if (begin == end)
    return {&state, 0, {}};
  std::byte *data = buffers_[state.buffer()] + (begin - partBegin) * element;
  return {&state, begin - state.offset(), {data, (end - begin) * element}};
}

Status Executor::checkRanks() const {
  if (peers_.ranks() == plan_.ranks())
    return {};
  return failed(
      "plan '{}' is for {} ranks, and this is one without peers; start as many ranks, or compile with "
      "--ranks=1",
      view(plan_.name()), plan_.ranks());
}

Status Executor::run(std::string_view entry) {
  const Program *program = findProgram(entry);
  assert(program && "ask hasEntry() first");
  TRAINC_RETURN_IF_ERROR(checkRanks());
  const Status status = issueAll(*program);
  device_.synchronise();
  broken_ |= !status.ok();
  return status;
}

Status Executor::issueAll(const Program &program) {
  for (const Block &block : program.blocks)
    for (uint64_t iteration = 0; iteration < block.iterations; ++iteration)
      for (uint32_t i = block.begin; i < block.end; ++i)
        TRAINC_RETURN_IF_ERROR(issueStep(program, i, iteration));
  return {};
}

Status Executor::issueStep(const Program &program, uint32_t index, uint64_t iteration) {
  const Step &step = program.steps[index];
  if (index == program.firstStateWrite && iteration == 0 && onStateWrite_)
    onStateWrite_();
  if (!profiler_)
    return issuer_.issue(program, step, iteration);
  const double begin = steadySeconds();
  TRAINC_RETURN_IF_ERROR(issuer_.issue(program, step, iteration));
  device_.synchronise();
  profiler_->add(step, steadySeconds() - begin);
  return {};
}

Result<std::optional<NonFinite>> Executor::replay(std::string_view entry) {
  const Program *program = findProgram(entry);
  assert(program && "ask hasEntry() first");
  TRAINC_RETURN_IF_ERROR(checkRanks());
  clearScratch();
  Result<std::optional<NonFinite>> found = replayProgram(plan_, *program, issuer_, peers_);
  broken_ |= !found.ok();
  return found;
}

/// Some instructions write a part of an operand and leave the rest to the next one. What a failed step left
/// there must not be taken for what they wrote.
void Executor::clearScratch() {
  for (uint32_t i = 0; i < plan_.buffers()->size(); ++i) {
    const fb::Buffer &buffer = *plan_.buffers()->Get(i);
    const bool scratch = view(plan_.arenas()->Get(buffer.arena())->name()) == "scratch";
    if (scratch && buffer.role() != fb::Role::Input)
      device_.zero(buffers_[i], buffer.bytes());
  }
}

std::optional<StateView> Executor::findState(std::string_view name) const {
  for (const StateView &state : states_)
    if (view(state.info->name()) == name)
      return state;
  return std::nullopt;
}

std::span<const InputView> Executor::inputs(std::string_view entry) const {
  const Program *program = findProgram(entry);
  return program ? std::span<const InputView>(program->inputs) : std::span<const InputView>();
}

std::span<std::byte> Executor::buffer(uint32_t index) const {
  return {buffers_[index], plan_.buffers()->Get(index)->bytes()};
}

std::array<uint64_t, 7> Executor::bytesByRole() const { return memoryByRole(plan_); }

std::vector<ProfileRow> Executor::profile() const {
  return profiler_ ? profiler_->rows() : std::vector<ProfileRow>();
}

const Program *Executor::findProgram(std::string_view entry) const {
  const auto found = std::ranges::find(programs_, entry, &Program::name);
  return found == programs_.end() ? nullptr : &*found;
}

std::byte *Executor::scalarAddress(std::string_view name, size_t bytes) const {
  const auto found = std::ranges::find(scalars_, name, &Scalar::name);
  if (found == scalars_.end())
    return nullptr;
  assert(found->bytes == bytes && "the C++ type is not that of the scalar");
  return found->bytes == bytes ? found->address : nullptr;
}

} // namespace trainc
