#include "runtime/exec/program.h"

#include "runtime/plan/view.h"

namespace trainc {

namespace {

class Resolver {
public:
  Resolver(const fb::Plan &plan, std::span<std::byte *const> buffers, Program &program)
      : plan_(plan), buffers_(buffers), program_(program) {}

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
    return {buffers_[operand.buffer()] + operand.offset(), operand.loop_stride()};
  }

  void append(const fb::Instruction &instruction, uint32_t index) {
    Step step{ZeroStep{}, &instruction, index};
    if (const fb::Launch *launch = instruction.operation_as_Launch())
      step.operation = resolve(*launch);
    else if (const fb::Copy *copy = instruction.operation_as_Copy())
      step.operation = CopyStep{address(*copy->source()), address(*copy->destination()), copy->bytes()};
    else if (const fb::Zero *zero = instruction.operation_as_Zero())
      step.operation = ZeroStep{address(*zero->destination()), zero->bytes()};
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

  const fb::Plan &plan_;
  std::span<std::byte *const> buffers_;
  Program &program_;
};

void issueStep(Device &device, const Program &program, const LaunchStep &launch, uint64_t iteration) {
  void *const *args = program.pointers.data() + launch.argsBegin;
  if (launch.moves) {
    for (uint32_t i = 0; i < launch.argsCount; ++i)
      program.moving[i] = program.args[launch.argsBegin + i].at(iteration);
    args = program.moving.data();
  }
  device.launch(launch.kernel, args, launch.grid);
}

void issueStep(Device &device, const Program &, const CopyStep &copy, uint64_t iteration) {
  device.copy(copy.destination.at(iteration), copy.source.at(iteration), copy.bytes);
}

void issueStep(Device &device, const Program &, const ZeroStep &zero, uint64_t iteration) {
  device.zero(zero.destination.at(iteration), zero.bytes);
}

} // namespace

Program resolveProgram(const fb::Plan &plan, const fb::Entry &entry, std::span<std::byte *const> buffers) {
  Program program;
  program.name = view(entry.name());
  program.entry = &entry;
  Resolver(plan, buffers, program).resolve(entry);
  program.pointers.reserve(program.args.size());
  for (const Address &address : program.args)
    program.pointers.push_back(address.base);
  return program;
}

void issue(Device &device, const Program &program, const Step &step, uint64_t iteration) {
  std::visit([&](const auto &operation) { issueStep(device, program, operation, iteration); },
             step.operation);
}

} // namespace trainc
