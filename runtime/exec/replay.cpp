#include "runtime/exec/replay.h"

#include "base/non_finite.h"
#include "base/units.h"
#include "plan/facts/uses.h"
#include "plan/facts/view.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace trainc {

namespace {

/// Chunk size of copies from the device; whole elements.
constexpr uint64_t kScannedAtOnce = uint64_t{1} << 20;

/// A buffer range that a step has written in one iteration.
struct Written {
  const fb::Operand *operand;
  DeviceSpan memory;
};

/// The finding of one rank. Ranks exchange their findings.
struct Finding {
  static constexpr uint64_t kNothing = ~uint64_t{0};

  uint64_t order = kNothing; ///< number of steps that the entry ran before; all ranks count alike
  uint64_t iteration = 0;
  uint64_t index = 0; ///< index of the element
  uint32_t step = 0;  ///< index in Program::steps
  uint32_t buffer = 0;
  float value = 0;
};

class Replay {
public:
  Replay(Executable &executable, Device &device, ControlChannel &control)
      : executable_(executable), program_(executable.program()), plan_(*program_.plan), device_(device),
        control_(control) {}

  Result<std::optional<NonFinite>> run() {
    TRAINC_RETURN_IF_ERROR(runSteps());
    TRAINC_ASSIGN_OR_RETURN(const std::span<const Finding> findings, control_.gather(finding_));
    const auto first = std::ranges::min_element(findings, {}, &Finding::order);
    if (first->order == Finding::kNothing)
      return std::optional<NonFinite>();
    return std::optional(describe(*first, static_cast<uint32_t>(first - findings.begin())));
  }

private:
  bool found() const { return finding_.order != Finding::kNothing; }

  Status runSteps() {
    uint64_t order = 0;
    for (const Block &block : program_.blocks)
      for (uint64_t iteration = 0; iteration < block.iterations; ++iteration)
        for (uint32_t i = block.begin; i < block.end; ++i) {
          TRAINC_RETURN_IF_ERROR(runStep(i, iteration, order++));
          if (found() && control_.ranks() == 1)
            return {};
        }
    return {};
  }

  Status runStep(uint32_t index, uint64_t iteration, uint64_t order) {
    TRAINC_RETURN_IF_ERROR(device_.runStep(executable_, index, iteration));
    Status status;
    forEachWritten(program_.steps[index], iteration, [&](const Written &written) {
      if (found() || !status.ok())
        return;
      const Result<bool> isHere = scan(written);
      status = isHere.status();
      if (isHere.ok() && *isHere) {
        finding_.order = order;
        finding_.iteration = iteration;
        finding_.step = index;
      }
    });
    return status;
  }

  /// Skips kernels that only move elements: they compute nothing and may write a part of their argument.
  /// Skips host kernels, which leave their output unchanged in a non-finite step.
  template <typename Visitor> void forEachWritten(const Step &step, uint64_t iteration, Visitor visit) {
    if (const auto *launch = std::get_if<LaunchStep>(&step.operation)) {
      const fb::Launch &table = *step.instruction->operation_as_Launch();
      const fb::Kernel &kernel = *plan_.kernels()->Get(launch->kernel);
      if (kernel.kind() == fb::KernelKind::Copy || kernel.on_host())
        return;
      for (uint32_t i = 0; i < launch->argsCount; ++i)
        if (const fb::Param &param = *kernel.params()->Get(i); param.access() != fb::Access::Read)
          visit(Written{table.args()->Get(i),
                        {program_.args[launch->argsBegin + i].at(iteration), param.bytes()}});
    } else if (const auto *call = std::get_if<LibraryStep>(&step.operation)) {
      forEachWritten(*call, libraryOperands(*step.instruction), iteration, visit);
    } else if (const auto *copy = std::get_if<CopyStep>(&step.operation)) {
      if (step.stream == fb::Stream::Compute || step.stream == fb::Stream::CopyIn) // to the device
        visit(Written{step.instruction->operation_as_Copy()->destination(),
                      {copy->destination.at(iteration), copy->bytes}});
    } else if (const auto *collective = std::get_if<CollectiveStep>(&step.operation)) {
      const fb::Collective &table = *step.instruction->operation_as_Collective();
      const std::span<const CollectiveRange> ranges = program_.rangesOf(*collective);
      for (uint32_t i = 0; i < ranges.size(); ++i)
        visit(Written{table.ranges()->Get(i)->destination(),
                      {ranges[i].destination, destinationBytes(plan_, table, *table.ranges()->Get(i))}});
    }
  }

  /// Skips the workspace and padding, whose content is undefined.
  template <typename Visitor>
  void forEachWritten(const LibraryStep &call, const std::vector<LibraryOperand> &operands,
                      uint64_t iteration, Visitor visit) {
    for (uint32_t i = 0; i < call.argsCount; ++i) {
      const LibraryOperand &each = operands[i];
      if (!each.operand || !each.writes || each.anyType)
        continue;
      const DeviceAddress begin = program_.args[call.argsBegin + i].at(iteration);
      facts::forEachRun(each, each.bytes, i, 1, [&](const facts::Use &run) {
        visit(Written{each.operand, {begin + run.range.shift, run.range.bytes}});
      });
    }
  }

  /// Records the first non-finite value of a range; returns whether there is one.
  Result<bool> scan(const Written &written) {
    switch (plan_.buffers()->Get(written.operand->buffer())->dtype()) {
    case fb::DType::F32:
      return scan<float>(written);
    case fb::DType::BF16:
      return scan<BFloat16>(written);
    case fb::DType::F16:
      return scan<Float16>(written);
    case fb::DType::F8E4M3:
      return scan<Float8E4M3>(written);
    case fb::DType::F8E5M2:
      return scan<Float8E5M2>(written);
    default:
      return false;
    }
  }

  template <typename Number> Result<bool> scan(const Written &written) {
    for (uint64_t done = 0; done < written.memory.bytes; done += kScannedAtOnce) {
      const DeviceSpan piece{written.memory.address + done,
                             std::min(written.memory.bytes - done, kScannedAtOnce)};
      TRAINC_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, onHost(piece));
      if (scan<Number>(bytes, done / sizeof(Number))) {
        finding_.buffer = written.operand->buffer();
        return true;
      }
    }
    return false;
  }

  template <typename Number> bool scan(std::span<const std::byte> bytes, uint64_t firstElement) {
    const std::optional<size_t> found = firstNonFinite<Number>(bytes);
    if (!found)
      return false;
    Number number;
    std::memcpy(&number, bytes.data() + *found * sizeof(Number), sizeof(Number));
    finding_.value = static_cast<float>(number);
    finding_.index = firstElement + *found;
    return true;
  }

  /// Returns the bytes in place if the host can read them there, else a copy, which is valid until the next
  /// call.
  Result<std::span<const std::byte>> onHost(DeviceSpan memory) {
    if (const std::span<const std::byte> view = device_.hostView(memory); !view.empty())
      return view;
    staging_.resize(kScannedAtOnce);
    const std::span<std::byte> copy = std::span(staging_).first(memory.bytes);
    TRAINC_RETURN_IF_ERROR(device_.readBeside(copy, memory.address));
    return std::span<const std::byte>(copy);
  }

  NonFinite describe(const Finding &finding, uint32_t rank) const {
    const Step &step = program_.steps[finding.step];
    const fb::Buffer &buffer = *plan_.buffers()->Get(finding.buffer);
    return {.source = plan_.sources()->Get(step.instruction->source()),
            .instruction = describe(step, finding.iteration),
            .buffer = std::string(view(buffer.name())),
            .index = finding.index,
            .value = withoutNanSign(finding.value),
            .rank = control_.ranks() > 1 ? std::optional(rank) : std::nullopt};
  }

  std::string describe(const Step &step, uint64_t iteration) const {
    std::string what = "copy";
    if (const auto *launch = std::get_if<LaunchStep>(&step.operation))
      what = "kernel " + plan_.kernels()->Get(launch->kernel)->symbol()->str();
    else if (std::holds_alternative<LibraryStep>(step.operation))
      what = libraryCallName(*step.instruction);
    else if (const auto *collective = std::get_if<CollectiveStep>(&step.operation))
      what = describe(*collective);
    const std::string loop = inLoop(step) ? fmt::format(", iteration {}", iteration) : "";
    return fmt::format("{} ({}){}", placeText(program_.name, std::to_string(step.index)), what, loop);
  }

  std::string describe(const CollectiveStep &step) const {
    return trainc::describe({.kind = step.kind, .axes = step.axes, .ranges = program_.rangesOf(step)},
                            Mesh(plan_));
  }

  bool inLoop(const Step &step) const {
    const auto index = static_cast<uint32_t>(&step - program_.steps.data());
    return std::ranges::any_of(program_.blocks, [&](const Block &block) {
      return block.iterations > 1 && index >= block.begin && index < block.end;
    });
  }

  Executable &executable_;
  const Program &program_;
  const fb::Plan &plan_;
  Device &device_;
  ControlChannel &control_;
  Finding finding_;
  std::vector<std::byte> staging_;
};

} // namespace

std::string NonFinite::message() const {
  return fmt::format("{}{} wrote {} to element {} of '{}' ({})",
                     rank ? fmt::format("on rank {}, ", *rank) : "", sourceText(*source), value, index,
                     buffer, instruction);
}

Result<std::optional<NonFinite>> replayProgram(Executable &executable, Device &device,
                                               ControlChannel &control) {
  return Replay(executable, device, control).run();
}

} // namespace trainc
