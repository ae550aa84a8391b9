#include "runtime/exec/executor.h"

#include "runtime/base/clock.h"
#include "runtime/exec/memory_by_role.h"
#include "runtime/exec/state_writes.h"
#include "runtime/plan/dtype.h"
#include "runtime/plan/view.h"

#include <algorithm>

namespace trainc {

namespace {

uint64_t tensorBytes(const flatbuffers::Vector<uint64_t> &shape, fb::DType dtype) {
  uint64_t bytes = elementBytes(dtype);
  for (const uint64_t dimension : shape)
    bytes *= dimension;
  return bytes;
}

} // namespace

Result<std::unique_ptr<Executor>> Executor::create(const fb::Plan &plan, Device &device,
                                                   ExecutorOptions options) {
  std::unique_ptr<Executor> executor(new Executor(plan, device));
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

Status Executor::allocateArenas() {
  std::vector<std::byte *> arenas;
  for (const fb::Arena *arena : *plan_.arenas()) {
    TRAINC_ASSIGN_OR_RETURN(std::byte * address, device_.allocateArena(view(arena->name()), arena->bytes()));
    arenas.push_back(address);
  }
  for (const fb::Buffer *buffer : *plan_.buffers())
    buffers_.push_back(arenas[buffer->arena()] + buffer->offset());
  return {};
}

void Executor::bindInterface() {
  for (const fb::Entry *entry : *plan_.entries()) {
    Program &program = programs_.emplace_back(resolveProgram(plan_, *entry, buffers_));
    program.firstStateWrite = firstStateWrite(plan_, program);
    if (entry->inputs())
      for (const fb::Input *input : *entry->inputs())
        program.inputs.push_back(
            {input, {buffers_[input->buffer()], tensorBytes(*input->shape(), input->dtype())}});
  }
  for (const fb::State *state : *plan_.states())
    states_.push_back({state, {buffers_[state->buffer()], tensorBytes(*state->shape(), state->dtype())}});
  for (const fb::Scalar *scalar : *plan_.scalars())
    scalars_.push_back({view(scalar->name()), buffers_[scalar->buffer()], elementBytes(scalar->dtype())});
}

void Executor::run(std::string_view entry) {
  const Program *program = findProgram(entry);
  assert(program && "ask hasEntry() first");
  if (profiler_)
    runProfiled(*program);
  else
    for (const Block &block : program->blocks)
      for (uint64_t iteration = 0; iteration < block.iterations; ++iteration)
        for (uint32_t i = block.begin; i < block.end; ++i)
          issueStep(*program, i, iteration);
  device_.synchronise();
}

void Executor::runProfiled(const Program &program) {
  for (const Block &block : program.blocks)
    for (uint64_t iteration = 0; iteration < block.iterations; ++iteration)
      for (uint32_t i = block.begin; i < block.end; ++i) {
        const double start = steadySeconds();
        issueStep(program, i, iteration);
        device_.synchronise();
        profiler_->add(program.steps[i], steadySeconds() - start);
      }
}

void Executor::issueStep(const Program &program, uint32_t index, uint64_t iteration) {
  if (index == program.firstStateWrite && iteration == 0 && onStateWrite_)
    onStateWrite_();
  issue(device_, program, program.steps[index], iteration);
}

std::optional<NonFinite> Executor::replay(std::string_view entry) {
  const Program *program = findProgram(entry);
  assert(program && "ask hasEntry() first");
  clearScratch();
  return replayProgram(plan_, device_, *program);
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

uint64_t Executor::peakBytes() const {
  uint64_t bytes = 0;
  for (const fb::Arena *arena : *plan_.arenas())
    bytes += arena->bytes();
  return bytes;
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
