#include "runtime/plan/dtype.h"
#include "runtime/plan/operand.h"
#include "runtime/plan/verifier.h"
#include "runtime/plan/verify.h"

#include <string>

namespace trainc::verify {

namespace {

constexpr uint64_t kMaximumLoop = uint64_t{1} << 20;

/// Verifies the instructions of one loop body, or of an entry.
class BodyVerifier {
public:
  explicit BodyVerifier(const fb::Plan &plan) : plan_(plan) {}
  BodyVerifier(const fb::Plan &plan, const fb::Loop &loop)
      : plan_(plan), iterations_(loop.count()), inLoop_(true) {}

  Status check(const fb::Instruction &instruction);
  /// Whether an operand so far moves from one iteration to the next.
  bool advances() const { return advances_; }

private:
  Status launch(const fb::Launch &launch);
  Status copy(const fb::Copy &copy);
  Status zero(const fb::Zero &zero);
  Status range(const Range &range, uint64_t alignment, const char *what);

  const fb::Plan &plan_;
  uint64_t iterations_ = 1;
  bool inLoop_ = false;
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
    return inLoop_ ? invalidInput("expected no collective in a loop")
                   : start(plan_, *instruction.operation_as_Start());
  case fb::Operation::Wait:
    return inLoop_ ? invalidInput("expected no collective in a loop") : Status();
  case fb::Operation::NONE:
    break;
  }
  return invalidInput("unknown operation {}", static_cast<int>(instruction.operation_type()));
}

Status checkSource(const fb::Plan &plan, const fb::Instruction &instruction) {
  if (instruction.source() >= plan.sources()->size())
    return invalidInput("expected a source below {}, found {}", plan.sources()->size(), instruction.source());
  return {};
}

Status checkOne(const fb::Plan &plan, BodyVerifier &body, const fb::Instruction &instruction) {
  TRAINC_RETURN_IF_ERROR(checkSource(plan, instruction));
  return body.check(instruction);
}

Status checkLoop(const fb::Plan &plan, const fb::Instruction &instruction, const fb::Loop &loop) {
  TRAINC_RETURN_IF_ERROR(checkSource(plan, instruction));
  if (loop.count() == 0 || loop.count() > kMaximumLoop)
    return invalidInput("loop: expected a count of 1 to {}, found {}", kMaximumLoop, loop.count());
  return {};
}

Status loop(const fb::Plan &plan, const fb::Entry &entry, uint32_t index,
            const fb::Instruction &instruction) {
  const fb::Loop &loop = *instruction.operation_as_Loop();
  const std::string at = std::to_string(index);
  TRAINC_RETURN_IF_ERROR(located(plan, entry, at, instruction, checkLoop(plan, instruction, loop)));
  BodyVerifier body(plan, loop);
  for (uint32_t i = 0; i < loop.body()->size(); ++i) {
    const fb::Instruction &inner = *loop.body()->Get(i);
    TRAINC_RETURN_IF_ERROR(located(plan, entry, loopIndex(index, i), inner, checkOne(plan, body, inner)));
  }
  if (loop.count() == 1 || body.advances())
    return {};
  return located(
      plan, entry, at, instruction,
      invalidInput("loop: expected an operand that advances, found {} equal iterations", loop.count()));
}

} // namespace

Status instructions(const fb::Plan &plan) {
  for (const fb::Entry *entry : *plan.entries()) {
    TRAINC_RETURN_IF_ERROR(name(view(entry->name()), "an entry"));
    BodyVerifier body(plan);
    for (uint32_t i = 0; i < entry->instructions()->size(); ++i) {
      const fb::Instruction &instruction = *entry->instructions()->Get(i);
      TRAINC_RETURN_IF_ERROR(
          instruction.operation_type() == fb::Operation::Loop
              ? loop(plan, *entry, i, instruction)
              : located(plan, *entry, std::to_string(i), instruction, checkOne(plan, body, instruction)));
    }
  }
  return {};
}

} // namespace trainc::verify
