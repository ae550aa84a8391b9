#include "runtime/exec/program.h"

#include "runtime/plan/view.h"

namespace trainc {

namespace {

CollectiveKind kindOf(fb::CollectiveKind kind) {
  switch (kind) {
  case fb::CollectiveKind::AllReduce:
    break;
  case fb::CollectiveKind::ReduceScatter:
    return CollectiveKind::kReduceScatter;
  case fb::CollectiveKind::AllGather:
    return CollectiveKind::kAllGather;
  }
  return CollectiveKind::kAllReduce;
}

class Resolver {
public:
  Resolver(const fb::Plan &plan, uint32_t rank, std::span<std::byte *const> buffers, Program &program)
      : plan_(plan), place_(rank % plan.shard_ranks()), buffers_(buffers), program_(program),
        started_(plan.slots()) {}

  void resolve(const fb::Entry &entry) {
    for (uint32_t i = 0; i < entry.instructions()->size(); ++i) {
      const fb::Instruction &instruction = *entry.instructions()->Get(i);
      const auto begin = static_cast<uint32_t>(program_.steps.size());
      if (const fb::Loop *loop = instruction.operation_as_Loop()) {
        for (const fb::Instruction *inner : *loop->body())
          append(*inner, i);
        program_.blocks.push_back({begin, static_cast<uint32_t>(program_.steps.size()), loop->count()});
      } else {
        append(instruction, i);
        extendPlainBlock(begin);
      }
    }
  }

private:
  /// Instructions between loops share one block.
  void extendPlainBlock(uint32_t begin) {
    if (program_.blocks.empty() || program_.blocks.back().iterations != 1)
      program_.blocks.push_back({begin, begin, 1});
    program_.blocks.back().end = static_cast<uint32_t>(program_.steps.size());
  }

  Address address(const fb::Operand &operand) const {
    return {buffers_[operand.buffer()] + operand.offset() + operand.rank_stride() * place_,
            operand.loop_stride()};
  }

  void append(const fb::Instruction &instruction, uint32_t index) {
    Step step{ZeroStep{}, &instruction, index};
    if (const fb::Launch *launch = instruction.operation_as_Launch())
      step.operation = resolve(*launch);
    else if (const fb::Copy *copy = instruction.operation_as_Copy())
      step.operation = CopyStep{address(*copy->source()), address(*copy->destination()), copy->bytes()};
    else if (const fb::Zero *zero = instruction.operation_as_Zero())
      step.operation = ZeroStep{address(*zero->destination()), zero->bytes()};
    else if (const fb::Start *start = instruction.operation_as_Start())
      step.operation = resolve(*start);
    else if (const fb::Wait *wait = instruction.operation_as_Wait())
      step.operation = WaitStep{wait->slot(), started_[wait->slot()]};
    program_.steps.push_back(step);
  }

  LaunchStep resolve(const fb::Launch &launch) {
    LaunchStep step{launch.kernel(), static_cast<uint32_t>(program_.args.size()), launch.args()->size(),
                    false, plan_.kernels()->Get(launch.kernel())->grid()};
    for (const fb::Operand *operand : *launch.args()) {
      program_.args.push_back(address(*operand));
      step.moves |= operand->loop_stride() != 0;
    }
    if (step.moves && step.argsCount > program_.moving.size())
      program_.moving.resize(step.argsCount);
    return step;
  }

  StartStep resolve(const fb::Start &start) {
    started_[start.slot()] = static_cast<uint32_t>(program_.steps.size());
    const auto begin = static_cast<uint32_t>(program_.ranges.size());
    for (const fb::Range *range : *start.ranges())
      program_.ranges.push_back({.source = address(*range->source()).base,
                                 .destination = address(*range->destination()).base,
                                 .elements = range->elements(),
                                 .dtype = range->dtype()});
    return {start.slot(), kindOf(start.kind()), start.group(), begin, start.ranges()->size()};
  }

  const fb::Plan &plan_;
  uint64_t place_; ///< of the rank in its shard group
  std::span<std::byte *const> buffers_;
  Program &program_;
  std::vector<uint32_t> started_; ///< by slot: the step of its last Start
};

} // namespace

Program resolveProgram(const fb::Plan &plan, const fb::Entry &entry, uint32_t rank,
                       std::span<std::byte *const> buffers) {
  Program program;
  program.name = view(entry.name());
  program.entry = &entry;
  Resolver(plan, rank, buffers, program).resolve(entry);
  program.pointers.reserve(program.args.size());
  for (const Address &address : program.args)
    program.pointers.push_back(address.base);
  return program;
}

} // namespace trainc
