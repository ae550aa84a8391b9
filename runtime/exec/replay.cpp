#include "runtime/exec/replay.h"

#include "runtime/log/units.h"
#include "runtime/plan/view.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace trainc {

namespace {

/// A buffer range that a step has written, in one iteration.
struct Written {
  const fb::Operand *operand;
  const std::byte *data;
  uint64_t bytes;
};

class Replay {
public:
  Replay(const fb::Plan &plan, Device &device, const Program &program)
      : plan_(plan), device_(device), program_(program) {}

  std::optional<NonFinite> run() {
    for (const Block &block : program_.blocks)
      for (uint64_t iteration = 0; iteration < block.iterations; ++iteration)
        for (uint32_t i = block.begin; i < block.end; ++i)
          if (auto found = runStep(program_.steps[i], block, iteration))
            return found;
    return std::nullopt;
  }

private:
  std::optional<NonFinite> runStep(const Step &step, const Block &block, uint64_t iteration) {
    issue(device_, program_, step, iteration);
    device_.synchronise();
    std::optional<NonFinite> found;
    forEachWritten(step, iteration, [&](const Written &written) {
      if (!found)
        found = scan(written);
    });
    if (found) {
      found->source = plan_.sources()->Get(step.instruction->source());
      found->instruction = describe(step, block, iteration);
    }
    return found;
  }

  template <typename Visitor> void forEachWritten(const Step &step, uint64_t iteration, Visitor visit) {
    if (const auto *launch = std::get_if<LaunchStep>(&step.operation)) {
      const fb::Launch &table = *step.instruction->operation_as_Launch();
      const fb::Kernel &kernel = *plan_.kernels()->Get(launch->kernel);
      for (uint32_t i = 0; i < launch->argsCount; ++i)
        if (const fb::Param &param = *kernel.params()->Get(i); param.access() != fb::Access::Read)
          visit({table.args()->Get(i), program_.args[launch->argsBegin + i].at(iteration), param.bytes()});
    } else if (const auto *copy = std::get_if<CopyStep>(&step.operation)) {
      visit({step.instruction->operation_as_Copy()->destination(), copy->destination.at(iteration),
             copy->bytes});
    }
  }

  std::optional<NonFinite> scan(const Written &written) {
    const fb::Buffer &buffer = *plan_.buffers()->Get(written.operand->buffer());
    if (buffer.dtype() != fb::DType::F32)
      return std::nullopt;
    for (uint64_t i = 0; i < written.bytes / sizeof(float); ++i) {
      float value;
      std::memcpy(&value, written.data + i * sizeof(float), sizeof(float));
      if (!std::isfinite(value))
        return NonFinite{nullptr, "", buffer.name() ? buffer.name()->str() : "", i, withoutNanSign(value)};
    }
    return std::nullopt;
  }

  std::string describe(const Step &step, const Block &block, uint64_t iteration) const {
    std::string what = "copy";
    if (const auto *launch = std::get_if<LaunchStep>(&step.operation))
      what = "kernel " + plan_.kernels()->Get(launch->kernel)->symbol()->str();
    const std::string loop = block.iterations > 1 ? fmt::format(", iteration {}", iteration) : "";
    return fmt::format("entry {}, instruction {} ({}){}", program_.name, step.index, what, loop);
  }

  const fb::Plan &plan_;
  Device &device_;
  const Program &program_;
};

} // namespace

std::string NonFinite::message() const {
  return fmt::format("{} wrote {} to element {} of '{}' ({})", sourceText(*source), value, index, buffer,
                     instruction);
}

std::optional<NonFinite> replayProgram(const fb::Plan &plan, Device &device, const Program &program) {
  return Replay(plan, device, program).run();
}

} // namespace trainc
