#include "runtime/device/program.h"

#include "plan/facts/uses.h"
#include "plan/facts/view.h"

#include <algorithm>

namespace trainc {

namespace {

class Resolver {
public:
  Resolver(const fb::Plan &plan, uint32_t rank, std::span<const DeviceAddress> buffers, Program &program)
      : plan_(plan), rank_(rank), buffers_(buffers), program_(program) {}

  void resolve(const fb::Entry &entry) {
    for (uint32_t i = 0; i < entry.instructions()->size(); ++i) {
      const fb::Instruction &instruction = *entry.instructions()->Get(i);
      const auto begin = static_cast<uint32_t>(program_.steps.size());
      first_.push_back(begin);
      if (const fb::Loop *loop = instruction.operation_as_Loop()) {
        for (const fb::Instruction *inner : *loop->body())
          append(*inner, i);
        program_.blocks.push_back({begin, static_cast<uint32_t>(program_.steps.size()), loop->count()});
      } else {
        append(instruction, i);
        extendPlainBlock(begin);
      }
      last_.push_back(static_cast<uint32_t>(program_.steps.size()) - 1);
      linkToOthers(instruction);
    }
  }

private:
  /// Instructions between two loops share one block.
  void extendPlainBlock(uint32_t begin) {
    if (program_.blocks.empty() || program_.blocks.back().iterations != 1)
      program_.blocks.push_back({begin, begin, 1});
    program_.blocks.back().end = static_cast<uint32_t>(program_.steps.size());
  }

  /// The first step of an instruction gets its dependencies; dependents of a loop depend on its last step.
  void linkToOthers(const fb::Instruction &instruction) {
    if (!instruction.after())
      return;
    Step &step = program_.steps[first_.back()];
    step.afterBegin = static_cast<uint32_t>(program_.after.size());
    step.afterCount = instruction.after()->size();
    for (const uint32_t other : *instruction.after())
      program_.after.push_back(last_[other]);
  }

  DeviceAddress at(const fb::Operand &operand) const {
    return buffers_[operand.buffer()] + operand.offset() + operand.rank_stride() * placeOf(operand);
  }
  /// Place of the rank along the operand's axes.
  uint64_t placeOf(const fb::Operand &operand) const {
    return shapeOf(plan_, axesOf(operand.axes())).placeOf(rank_);
  }
  Address address(const fb::Operand &operand) const { return {at(operand), operand.loop_stride()}; }

  void append(const fb::Instruction &instruction, uint32_t index) {
    Step step{ZeroStep{}, &instruction, index, instruction.stream(), 0, 0};
    if (const fb::Launch *launch = instruction.operation_as_Launch())
      step.operation = resolve(*launch);
    else if (const fb::Copy *copy = instruction.operation_as_Copy())
      step.operation = CopyStep{address(*copy->source()), address(*copy->destination()),
                                copy->bytes() + facts::restOfBlock(instruction)};
    else if (const fb::Zero *zero = instruction.operation_as_Zero())
      step.operation = ZeroStep{address(*zero->destination()), zero->bytes()};
    else if (const fb::Collective *collective = instruction.operation_as_Collective())
      step.operation = resolve(*collective);
    else
      step.operation = resolveLibraryCall(instruction);
    program_.steps.push_back(step);
  }

  LaunchStep resolve(const fb::Launch &launch) {
    const LaunchStep step{launch.kernel(), static_cast<uint32_t>(program_.args.size()), launch.args()->size(),
                          plan_.kernels()->Get(launch.kernel())->grid()};
    for (const fb::Operand *operand : *launch.args())
      program_.args.push_back(address(*operand));
    return step;
  }

  LibraryStep resolveLibraryCall(const fb::Instruction &call) {
    const auto begin = static_cast<uint32_t>(program_.args.size());
    for (const LibraryOperand &each : libraryOperands(call))
      program_.args.push_back(each.operand ? address(*each.operand) : Address());
    return {begin, static_cast<uint32_t>(program_.args.size()) - begin};
  }

  CollectiveStep resolve(const fb::Collective &collective) {
    const auto begin = static_cast<uint32_t>(program_.ranges.size());
    for (const fb::Range *range : *collective.ranges())
      program_.ranges.push_back({at(*range->source()), at(*range->destination()), range->elements(),
                                 range->dtype(), range->widens(), sumOf(*range)});
    return {static_cast<MeetingKind>(collective.kind()), axesOf(*collective.axes()), begin,
            collective.ranges()->size()};
  }

  std::optional<KernelSum> sumOf(const fb::Range &range) const {
    if (!range.sum_kernel())
      return std::nullopt;
    return KernelSum{*range.sum_kernel(), at(*range.workspace()), range.workspace_bytes()};
  }

  const fb::Plan &plan_;
  uint32_t rank_;
  std::span<const DeviceAddress> buffers_;
  Program &program_;
  std::vector<uint32_t> first_, last_; ///< by instruction: its first and last step
};

bool writesState(const fb::Plan &plan, const fb::Instruction &instruction) {
  bool writes = false;
  facts::forEachUse(plan, instruction, 1, [&](const facts::Use &use) {
    const fb::Role role = plan.buffers()->Get(use.range.operand->buffer())->role();
    writes |= use.writes && (role == fb::Role::Parameter || role == fb::Role::Optimizer);
  });
  return writes;
}

} // namespace

Program resolveProgram(const fb::Plan &plan, const fb::Entry &entry, uint32_t rank,
                       std::span<const DeviceAddress> buffers) {
  Program program;
  program.plan = &plan;
  program.entry = &entry;
  program.name = view(entry.name());
  Resolver(plan, rank, buffers, program).resolve(entry);
  return program;
}

Status located(const Program &program, const Step &step, Status status) {
  if (status.ok())
    return status;
  return Status(status.code(), fmt::format("{}: {}",
                                           placeText(*program.plan, program.name, std::to_string(step.index),
                                                     *step.instruction),
                                           status.message()));
}

uint32_t firstStateWrite(const fb::Plan &plan, const Program &program) {
  for (const Block &block : program.blocks)
    for (uint32_t i = block.begin; i < block.end; ++i)
      if (writesState(plan, *program.steps[i].instruction))
        return block.iterations > 1 ? block.begin : i;
  return static_cast<uint32_t>(program.steps.size());
}

} // namespace trainc
