#include "runtime/exec/replay.h"

#include "runtime/log/units.h"
#include "runtime/plan/collective.h"
#include "runtime/plan/place.h"

#include <algorithm>
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

/// What ranks tell each other of the first value that is not finite.
struct Finding {
  static constexpr uint64_t kNothing = ~uint64_t{0};

  uint64_t order = kNothing; ///< steps issued before it in the entry, the same on all ranks
  uint64_t iteration = 0;
  uint64_t index = 0; ///< of the element
  uint32_t step = 0;  ///< in Program::steps
  uint32_t buffer = 0;
  float value = 0;
};

class Replay {
public:
  Replay(const fb::Plan &plan, const Program &program, Issuer &issuer, Peers &peers)
      : plan_(plan), program_(program), issuer_(issuer), peers_(peers) {}

  Result<std::optional<NonFinite>> run() {
    TRAINC_RETURN_IF_ERROR(runSteps());
    TRAINC_ASSIGN_OR_RETURN(const std::span<const Finding> findings, peers_.gather(finding_));
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
          if (found() && peers_.ranks() == 1)
            return {};
        }
    return {};
  }

  Status runStep(uint32_t index, uint64_t iteration, uint64_t order) {
    const Step &step = program_.steps[index];
    TRAINC_RETURN_IF_ERROR(issuer_.issue(program_, step, iteration));
    issuer_.synchronise();
    forEachWritten(step, iteration, [&](const Written &written) {
      if (!found() && scan(written)) {
        finding_.order = order;
        finding_.iteration = iteration;
        finding_.step = index;
      }
    });
    return {};
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
    } else if (const auto *wait = std::get_if<WaitStep>(&step.operation)) {
      const fb::Start &start = *program_.steps[wait->start].instruction->operation_as_Start();
      const Collective collective = collectiveOf(*wait);
      for (uint32_t i = 0; i < start.ranges()->size(); ++i) {
        const fb::Range &range = *start.ranges()->Get(i);
        visit({range.destination(), collective.ranges[i].destination, destinationBytes(plan_, start, range)});
      }
    }
  }

  /// What a step waits for.
  Collective collectiveOf(const WaitStep &wait) const {
    return program_.collective(std::get<StartStep>(program_.steps[wait.start].operation));
  }

  /// Takes note of the first value of a range that is not finite; whether there is one.
  bool scan(const Written &written) {
    if (plan_.buffers()->Get(written.operand->buffer())->dtype() != fb::DType::F32)
      return false;
    for (uint64_t i = 0; i < written.bytes / sizeof(float); ++i) {
      std::memcpy(&finding_.value, written.data + i * sizeof(float), sizeof(float));
      if (std::isfinite(finding_.value))
        continue;
      finding_.index = i;
      finding_.buffer = written.operand->buffer();
      return true;
    }
    return false;
  }

  NonFinite describe(const Finding &finding, uint32_t rank) const {
    const Step &step = program_.steps[finding.step];
    const fb::Buffer &buffer = *plan_.buffers()->Get(finding.buffer);
    return {.source = plan_.sources()->Get(step.instruction->source()),
            .instruction = describe(step, finding.iteration),
            .buffer = std::string(view(buffer.name())),
            .index = finding.index,
            .value = withoutNanSign(finding.value),
            .rank = peers_.ranks() > 1 ? std::optional(rank) : std::nullopt};
  }

  std::string describe(const Step &step, uint64_t iteration) const {
    std::string what = "copy";
    if (const auto *launch = std::get_if<LaunchStep>(&step.operation))
      what = "kernel " + plan_.kernels()->Get(launch->kernel)->symbol()->str();
    else if (const auto *wait = std::get_if<WaitStep>(&step.operation))
      what = trainc::describe(collectiveOf(*wait));
    const std::string loop = inLoop(step) ? fmt::format(", iteration {}", iteration) : "";
    return fmt::format("{} ({}){}", placeText(program_.name, std::to_string(step.index)), what, loop);
  }

  bool inLoop(const Step &step) const {
    const auto index = static_cast<uint32_t>(&step - program_.steps.data());
    return std::ranges::any_of(program_.blocks, [&](const Block &block) {
      return block.iterations > 1 && index >= block.begin && index < block.end;
    });
  }

  const fb::Plan &plan_;
  const Program &program_;
  Issuer &issuer_;
  Peers &peers_;
  Finding finding_;
};

} // namespace

std::string NonFinite::message() const {
  return fmt::format("{}{} wrote {} to element {} of '{}' ({})",
                     rank ? fmt::format("on rank {}, ", *rank) : "", sourceText(*source), value, index,
                     buffer, instruction);
}

Result<std::optional<NonFinite>> replayProgram(const fb::Plan &plan, const Program &program, Issuer &issuer,
                                               Peers &peers) {
  return Replay(plan, program, issuer, peers).run();
}

} // namespace trainc
