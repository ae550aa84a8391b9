#include "runtime/plan/dtype.h"
#include "runtime/plan/operand.h"
#include "runtime/plan/verifier.h"
#include "runtime/plan/verify.h"

#include <string>

namespace trainc::verify {

namespace {

constexpr uint64_t kMaximumLoop = uint64_t{1} << 20;

/// Verifies the instructions of one loop body, or of an entry (iterations == 1).
class BodyVerifier {
public:
  BodyVerifier(const fb::Plan &plan, uint64_t iterations) : plan_(plan), iterations_(iterations) {}

  Status check(const fb::Instruction &instruction);
  /// Whether an operand so far moves from one iteration to the next.
  bool advances() const { return advances_; }

private:
  Status launch(const fb::Launch &launch);
  Status copy(const fb::Copy &copy);
  Status zero(const fb::Zero &zero);
  Status range(const Range &range, uint64_t alignment, const char *what);

  const fb::Plan &plan_;
  uint64_t iterations_;
  bool advances_ = false;
};

Status BodyVerifier::range(const Range &range, uint64_t alignment, const char *what) {
  advances_ |= range.operand->loop_stride() != 0;
  return checkRange(plan_, range, alignment, what);
}

Status BodyVerifier::launch(const fb::Launch &launch) {
  if (launch.kernel() >= plan_.kernels()->size())
    return invalidInput("expected a kernel below {}, found {}", plan_.kernels()->size(), launch.kernel());
  const fb::Kernel &kernel = *plan_.kernels()->Get(launch.kernel());
  if (launch.args()->size() != kernel.params()->size())
    return invalidInput("kernel {}: expected {} arguments, found {}", view(kernel.symbol()),
                        kernel.params()->size(), launch.args()->size());
  if (!isAligned(launch.args()->Data()))
    return invalidInput("kernel {}: expected arguments on an 8-byte border of the file",
                        view(kernel.symbol()));
  for (uint32_t i = 0; i < launch.args()->size(); ++i) {
    const fb::Param &param = *kernel.params()->Get(i);
    const std::string what = fmt::format("kernel {}, argument {}", view(kernel.symbol()), i);
    TRAINC_RETURN_IF_ERROR(
        range({launch.args()->Get(i), param.bytes(), iterations_}, kLaunchAlignment, what.c_str()));
    const fb::Buffer &buffer = *plan_.buffers()->Get(launch.args()->Get(i)->buffer());
    if (buffer.dtype() != param.dtype())
      return invalidInput("{}: expected a buffer of {}, found '{}' of {}", what, dtypeName(param.dtype()),
                          view(buffer.name()), dtypeName(buffer.dtype()));
  }
  return {};
}

Status BodyVerifier::copy(const fb::Copy &copy) {
  if (!copy.source() || !copy.destination())
    return invalidInput("copy: expected a source and a destination, found one missing");
  const Range source{copy.source(), copy.bytes(), iterations_},
      destination{copy.destination(), copy.bytes(), iterations_};
  TRAINC_RETURN_IF_ERROR(range(source, 1, "copy source"));
  TRAINC_RETURN_IF_ERROR(range(destination, 1, "copy destination"));
  if (overlap(plan_, source, destination))
    return invalidInput("copy: expected source and destination apart, found shared bytes");
  return {};
}

Status BodyVerifier::zero(const fb::Zero &zero) {
  if (!zero.destination())
    return invalidInput("zero: expected a destination, found none");
  return range({zero.destination(), zero.bytes(), iterations_}, 1, "zero destination");
}

Status BodyVerifier::check(const fb::Instruction &instruction) {
  switch (instruction.operation_type()) {
  case fb::Operation::Launch:
    return launch(*instruction.operation_as_Launch());
  case fb::Operation::Copy:
    return copy(*instruction.operation_as_Copy());
  case fb::Operation::Zero:
    return zero(*instruction.operation_as_Zero());
  case fb::Operation::Loop:
    return invalidInput("expected no loop within a loop");
  case fb::Operation::Start:
  case fb::Operation::Wait:
    return invalidInput("expected no collective in a plan of one rank");
  case fb::Operation::NONE:
    break;
  }
  return invalidInput("unknown operation {}", static_cast<int>(instruction.operation_type()));
}

/// "entry update, instruction 3.1 (opt: train.adamw at gpt.mlir:40)": where an error lies.
Status located(const fb::Plan &plan, const fb::Entry &entry, const std::string &index,
               const fb::Instruction &instruction, const Status &status) {
  std::string source;
  if (instruction.source() < plan.sources()->size()) {
    const fb::Source &found = *plan.sources()->Get(instruction.source());
    source = fmt::format(" ({} at {}:{})", view(found.op()), view(found.file()), found.line());
  }
  return Status(status.code(), fmt::format("entry {}, instruction {}{}: {}", view(entry.name()), index,
                                           source, status.message()));
}

Status checkOne(const fb::Plan &plan, BodyVerifier &body, const fb::Instruction &instruction) {
  if (instruction.source() >= plan.sources()->size())
    return invalidInput("expected a source below {}, found {}", plan.sources()->size(), instruction.source());
  return body.check(instruction);
}

Status loop(const fb::Plan &plan, const fb::Entry &entry, uint32_t index,
            const fb::Instruction &instruction) {
  const fb::Loop &loop = *instruction.operation_as_Loop();
  const std::string at = std::to_string(index);
  if (loop.count() == 0 || loop.count() > kMaximumLoop)
    return located(plan, entry, at, instruction,
                   invalidInput("loop: expected a count of 1 to {}, found {}", kMaximumLoop, loop.count()));
  BodyVerifier body(plan, loop.count());
  for (uint32_t i = 0; i < loop.body()->size(); ++i) {
    const fb::Instruction &inner = *loop.body()->Get(i);
    if (const Status status = checkOne(plan, body, inner); !status.ok())
      return located(plan, entry, fmt::format("{}.{}", index, i), inner, status);
  }
  if (loop.count() > 1 && !body.advances())
    return located(
        plan, entry, at, instruction,
        invalidInput("loop: expected an operand that advances, found {} equal iterations", loop.count()));
  return {};
}

} // namespace

Status instructions(const fb::Plan &plan) {
  for (const fb::Entry *entry : *plan.entries()) {
    TRAINC_RETURN_IF_ERROR(name(view(entry->name()), "an entry"));
    BodyVerifier body(plan, 1);
    for (uint32_t i = 0; i < entry->instructions()->size(); ++i) {
      const fb::Instruction &instruction = *entry->instructions()->Get(i);
      if (instruction.operation_type() == fb::Operation::Loop &&
          instruction.source() < plan.sources()->size()) {
        TRAINC_RETURN_IF_ERROR(loop(plan, *entry, i, instruction));
      } else if (const Status status = checkOne(plan, body, instruction); !status.ok()) {
        return located(plan, *entry, std::to_string(i), instruction, status);
      }
    }
  }
  return {};
}

} // namespace trainc::verify
