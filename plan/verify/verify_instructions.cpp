#include "plan/facts/dtype.h"
#include "plan/facts/library_calls.h"
#include "plan/facts/operand.h"
#include "plan/facts/uses.h"
#include "plan/schema/enum_words.h"
#include "plan/schema/limits.h"
#include "plan/verify/verifier.h"
#include "plan/verify/verify.h"

#include <cmath>
#include <numeric>
#include <optional>
#include <string>

namespace trainc::verify {

namespace {

constexpr uint64_t kMaxLoop = uint64_t{1} << 20;

/// Verifies the instructions of one loop body, or of an entry.
class BodyVerifier {
public:
  explicit BodyVerifier(const fb::Plan &plan) : plan_(plan) {}
  BodyVerifier(const fb::Plan &plan, const fb::Loop &loop)
      : plan_(plan), iterations_(loop.count()), inLoop_(true) {}

  Status check(const fb::Instruction &instruction);
  /// Whether any operand so far has a loop stride.
  bool advances() const { return advances_; }

private:
  Status operation(const fb::Instruction &instruction);
  Status launch(const fb::Launch &launch);
  Status libraryCall(const fb::Instruction &call);
  Status copy(const fb::Copy &copy, fb::Stream stream);
  Status ofBlocks(const Range &source, const Range &destination);
  Status zero(const fb::Zero &zero);
  Status range(const Range &range, uint64_t alignment, const char *what);
  Status inSpace(fb::Space space, const Range &range, uint64_t alignment, const char *what);
  Status onDevice(const Range &each, uint64_t alignment, const char *what) {
    return inSpace(fb::Space::Device, each, alignment, what);
  }
  Status keepsAccessAlignment(const fb::Operand &arg, uint64_t bytes, const char *what) const;
  Status streamIs(fb::Stream expected, fb::Stream found) const;
  fb::Stream streamOf(const fb::Launch &launch) const {
    return plan_.kernels()->Get(launch.kernel())->on_host() ? fb::Stream::HostCompute : fb::Stream::Compute;
  }

  const fb::Plan &plan_;
  uint64_t iterations_ = 1;
  bool inLoop_ = false;
  bool advances_ = false;
};

Status BodyVerifier::range(const Range &range, uint64_t alignment, const char *what) {
  advances_ |= range.operand->loop_stride() != 0;
  return checkRange(plan_, range, alignment, what);
}

Status BodyVerifier::inSpace(fb::Space space, const Range &each, uint64_t alignment, const char *what) {
  TRAINC_RETURN_IF_ERROR(range(each, alignment, what));
  if (const fb::Space found = spaceOf(plan_, *each.operand); found != space)
    return invalidInput("{}: expected memory of the {}, found {}", what, wordOf(space), wordOf(found));
  return {};
}

Status BodyVerifier::streamIs(fb::Stream expected, fb::Stream found) const {
  if (expected == found)
    return {};
  return invalidInput("expected the stream {} for it, found {}", wordOf(expected), wordOf(found));
}

/// Checks that an argument that is aligned in the first iteration of a loop is aligned in all. A kernel
/// accesses several bytes at a time, aligned to their number: the greatest common divisor of the tensor's
/// size and TargetTraits::accessBytes.
Status BodyVerifier::keepsAccessAlignment(const fb::Operand &arg, uint64_t bytes, const char *what) const {
  const uint64_t alignment = std::gcd(bytes, targetOf(plan_).accessBytes);
  if (arg.loop_stride() % static_cast<int64_t>(alignment) == 0)
    return {};
  return invalidInput("{}: expected a loop stride in multiples of {}, because a {} reads {} bytes, found {}",
                      what, alignment, targetOf(plan_).processor(), bytes, arg.loop_stride());
}

Status BodyVerifier::launch(const fb::Launch &launch) {
  if (launch.kernel() >= plan_.kernels()->size())
    return invalidInput("expected a kernel below {}, found {}", plan_.kernels()->size(), launch.kernel());
  const fb::Kernel &kernel = *plan_.kernels()->Get(launch.kernel());
  if (kernel.kind() == fb::KernelKind::RankSum)
    return invalidInput(
        "kernel {}: expected a kernel that a launch may call, found one of kind rank_sum, which "
        "collectives call",
        view(kernel.symbol()));
  if (launch.args()->size() != kernel.params()->size())
    return invalidInput("kernel {}: expected {} arguments, found {}", view(kernel.symbol()),
                        kernel.params()->size(), launch.args()->size());
  if (!isAligned(launch.args()->Data()))
    return invalidInput("kernel {}: expected arguments aligned to 8 bytes in the file",
                        view(kernel.symbol()));
  for (uint32_t i = 0; i < launch.args()->size(); ++i) {
    const fb::Param &param = *kernel.params()->Get(i);
    const std::string what = fmt::format("kernel {}, argument {}", view(kernel.symbol()), i);
    TRAINC_RETURN_IF_ERROR(inSpace(kernel.on_host() ? fb::Space::Host : fb::Space::Device,
                                   {launch.args()->Get(i), param.bytes(), iterations_}, kLaunchAlignment,
                                   what.c_str()));
    TRAINC_RETURN_IF_ERROR(keepsAccessAlignment(*launch.args()->Get(i), param.bytes(), what.c_str()));
    const fb::Buffer &buffer = *plan_.buffers()->Get(launch.args()->Get(i)->buffer());
    if (buffer.dtype() != param.dtype())
      return invalidInput("{}: expected a buffer of {}, found '{}' of {}", what, dtypeName(param.dtype()),
                          view(buffer.name()), dtypeName(buffer.dtype()));
  }
  return argumentsApart(plan_, launch, iterations_);
}

Status BodyVerifier::libraryCall(const fb::Instruction &call) {
  TRAINC_RETURN_IF_ERROR(librarySizes(plan_, call));
  for (const LibraryOperand &each : libraryOperands(call)) {
    if (!each.operand)
      continue;
    const std::string what = fmt::format("{}, operand {}", libraryCallName(call), each.name);
    TRAINC_RETURN_IF_ERROR(
        onDevice({each.operand, each.bytes.padded().hull(), iterations_}, kLaunchAlignment, what.c_str()));
    const fb::Buffer &buffer = *plan_.buffers()->Get(each.operand->buffer());
    if (!each.anyType && buffer.dtype() != each.dtype)
      return invalidInput("{}: expected a buffer of {}, found '{}' of {}", what, dtypeName(each.dtype),
                          view(buffer.name()), dtypeName(buffer.dtype()));
  }
  return operandsApart(plan_, call, iterations_);
}

/// Stream of copies between two spaces; nothing if there are no such copies.
std::optional<fb::Stream> copyStream(fb::Space from, fb::Space to) {
  if (from == fb::Space::Device && to == fb::Space::Device)
    return fb::Stream::Compute;
  if (from == to)
    return std::nullopt;
  if (from == fb::Space::Disk || to == fb::Space::Disk)
    return fb::Stream::Disk;
  return to == fb::Space::Device ? fb::Stream::CopyIn : fb::Stream::CopyOut;
}

/// Checks the alignment that direct I/O requires: see Copy in plan.fbs.
Status BodyVerifier::ofBlocks(const Range &source, const Range &destination) {
  const bool toDisk = spaceOf(plan_, *destination.operand) == fb::Space::Disk;
  const Range &onDisk = toDisk ? destination : source;
  Range inMemory = toDisk ? source : destination;
  const uint64_t end = onDisk.operand->offset() + onDisk.bytes,
                 held = plan_.buffers()->Get(onDisk.operand->buffer())->bytes();
  for (const Range &each : {onDisk, inMemory}) {
    const fb::Buffer &buffer = *plan_.buffers()->Get(each.operand->buffer());
    const uint64_t offset = buffer.offset() + each.operand->offset(); // offset in its arena, in either space
    if ((each.bytes % kDiskAlignment != 0 && end != held) || offset % kDiskAlignment != 0 ||
        each.operand->rank_stride() % kDiskAlignment != 0)
      return invalidInput("copy: expected offsets and lengths in multiples of {} where one side is on disk, "
                          "found {} bytes at {} in the arena of '{}'",
                          kDiskAlignment, each.bytes, offset, view(buffer.name()));
  }
  inMemory.bytes = wholeBlocks(inMemory.bytes);
  return range(inMemory, 1, "copy to the end of the last block");
}

Status BodyVerifier::copy(const fb::Copy &copy, fb::Stream stream) {
  if (!copy.source() || !copy.destination())
    return invalidInput("copy: expected a source and a destination, found one missing");
  const Range source{copy.source(), copy.bytes(), iterations_},
      destination{copy.destination(), copy.bytes(), iterations_};
  TRAINC_RETURN_IF_ERROR(range(source, 1, "copy source"));
  TRAINC_RETURN_IF_ERROR(range(destination, 1, "copy destination"));
  if (overlap(plan_, source, destination))
    return invalidInput("copy: expected source and destination apart, found shared bytes");
  const fb::Buffer &read = *plan_.buffers()->Get(copy.source()->buffer());
  const fb::Buffer &written = *plan_.buffers()->Get(copy.destination()->buffer());
  if (read.dtype() != written.dtype())
    return invalidInput("copy: expected buffers of one dtype, found '{}' of {} and '{}' of {}",
                        view(read.name()), dtypeName(read.dtype()), view(written.name()),
                        dtypeName(written.dtype()));
  const fb::Space from = spaceOf(plan_, *copy.source()), to = spaceOf(plan_, *copy.destination());
  const std::optional<fb::Stream> expected = copyStream(from, to);
  if (!expected)
    return invalidInput("copy: expected one within the device or between spaces, found one within {}",
                        wordOf(from));
  if (expected == fb::Stream::Disk)
    TRAINC_RETURN_IF_ERROR(ofBlocks(source, destination));
  return streamIs(*expected, stream);
}

Status BodyVerifier::zero(const fb::Zero &zero) {
  if (!zero.destination())
    return invalidInput("zero: expected a destination, found none");
  return onDevice({zero.destination(), zero.bytes(), iterations_}, 1, "zero destination");
}

Status BodyVerifier::check(const fb::Instruction &instruction) {
  if (instruction.stream() > fb::Stream::MAX)
    return invalidInput("unknown stream {}", static_cast<int>(instruction.stream()));
  TRAINC_RETURN_IF_ERROR(operation(instruction));
  if (!inLoop_)
    return {};
  if (instruction.after() && instruction.after()->size() > 0)
    return invalidInput("expected no `after` in a loop, where only the whole loop may have one, found some");
  return streamIs(fb::Stream::Compute, instruction.stream());
}

Status BodyVerifier::operation(const fb::Instruction &instruction) {
  const fb::Stream stream = instruction.stream();
  switch (instruction.operation_type()) {
  case fb::Operation::Launch:
    TRAINC_RETURN_IF_ERROR(launch(*instruction.operation_as_Launch()));
    return streamIs(streamOf(*instruction.operation_as_Launch()), stream);
  case fb::Operation::Copy:
    return copy(*instruction.operation_as_Copy(), stream);
  case fb::Operation::Zero:
    TRAINC_RETURN_IF_ERROR(zero(*instruction.operation_as_Zero()));
    return streamIs(fb::Stream::Compute, stream);
  case fb::Operation::Loop:
    return invalidInput("expected no loop within a loop");
  case fb::Operation::Collective:
    if (inLoop_)
      return invalidInput("expected no collective in a loop");
    TRAINC_RETURN_IF_ERROR(collective(plan_, *instruction.operation_as_Collective()));
    return streamIs(fb::Stream::Communication, stream);
  case fb::Operation::MatrixProduct:
  case fb::Operation::Attention:
    TRAINC_RETURN_IF_ERROR(libraryCall(instruction));
    return streamIs(fb::Stream::Compute, stream);
  case fb::Operation::NONE:
    break;
  }
  return invalidInput("unknown operation {}", static_cast<int>(instruction.operation_type()));
}

/// Checks the fields that messages, profiles and traces show.
Status checkTold(const fb::Plan &plan, const fb::Instruction &instruction) {
  if (instruction.source() >= plan.sources()->size())
    return invalidInput("expected a source below {}, found {}", plan.sources()->size(), instruction.source());
  const float seconds = instruction.predicted_seconds();
  if (!std::isfinite(seconds) || seconds < 0)
    return invalidInput("expected predicted seconds from 0 on, found {}", seconds);
  return {};
}

Status checkOne(const fb::Plan &plan, BodyVerifier &body, const fb::Instruction &instruction) {
  TRAINC_RETURN_IF_ERROR(checkTold(plan, instruction));
  return body.check(instruction);
}

Status checkLoop(const fb::Plan &plan, const fb::Instruction &instruction, const fb::Loop &loop) {
  TRAINC_RETURN_IF_ERROR(checkTold(plan, instruction));
  if (loop.body()->size() == 0)
    return invalidInput("loop: expected instructions in it, found none");
  if (instruction.stream() != fb::Stream::Compute)
    return invalidInput("loop: expected it on the stream compute, found another");
  if (loop.count() == 0 || loop.count() > kMaxLoop)
    return invalidInput("loop: expected a count of 1 to {}, found {}", kMaxLoop, loop.count());
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
