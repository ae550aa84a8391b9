#include "tools/report/verdict.h"

#include "base/units.h"
#include "plan/facts/view.h"

#include <algorithm>

namespace trainc::report {

namespace {

bool isPredicted(const fb::Entry &entry) {
  return std::ranges::all_of(*entry.instructions(), [](const fb::Instruction *instruction) {
    return instruction->predicted_seconds() > 0;
  });
}

void addMemory(const Analysis &analysis, Verdict &verdict) {
  verdict.memory = memoryNeedOf(analysis.plan);
  if (verdict.memory.host > 0) // memory of the host that does not count against the limit
    verdict.host = memoryByKind(analysis.plan, fb::Space::Host);
  verdict.disk = memoryByKind(analysis.plan, fb::Space::Disk);
}

} // namespace

std::optional<int64_t> Verdict::headroom() const {
  if (!limit)
    return std::nullopt;
  return static_cast<int64_t>(*limit) - static_cast<int64_t>(memory.together());
}

Verdict verdictOf(const Analysis &analysis) {
  Verdict verdict;
  addMemory(analysis, verdict);
  verdict.limit = memoryLimitOf(analysis.plan);
  bool allPredicted = true;
  for (const ScheduledRuns &each : analysis.step) {
    allPredicted &= isPredicted(*each.entry);
    verdict.flops += each.runs * each.entry->flops();
  }
  const StepSeconds seconds = secondsOf(analysis.step);
  verdict.communicationSeconds = seconds.communication;
  verdict.exposedSeconds = seconds.exposed;
  if (allPredicted && seconds.total > 0)
    verdict.stepSeconds = seconds.total;
  return verdict;
}

std::string secondsText(double seconds) {
  static constexpr std::pair<double, const char *> units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
  for (const auto &[size, name] : units)
    if (seconds >= size) {
      const double value = seconds / size;
      return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, name);
    }
  return seconds > 0 ? fmt::format("{:.2g} us", seconds * 1e6) : "0 s";
}

std::string needText(const MemoryNeed &need, uint32_t ranks) {
  return formatNeededBytes(need.together()) + (ranks > 1 ? " on each rank" : "") +
         (need.besides ? fmt::format(" (tensors {}, besides at most {})", formatBytes(need.arenas),
                                     formatNeededBytes(*need.besides))
                       : " (tensors; the plan does not say what its process takes)");
}

static std::string fitText(const Verdict &verdict, uint32_t ranks) {
  const std::string need = needText(verdict.memory, ranks);
  const std::optional<int64_t> headroom = verdict.headroom();
  if (!headroom)
    return fmt::format("Needs {}, no limit was given", need);
  const std::string limit = formatBytes(*verdict.limit);
  if (*headroom < 0)
    return fmt::format("Does not fit: needs {}, {} more than the limit of {}", need,
                       formatNeededBytes(static_cast<uint64_t>(-*headroom)), limit);
  return fmt::format("Fits: needs {} of {} allowed, {} to spare", need, limit,
                     formatBytes(static_cast<uint64_t>(*headroom)));
}

/// Description of bytes by kind: "optimizer states 6.38 MiB, activations 18.1 MiB".
static std::string kindsText(const BytesByKind &offloaded) {
  std::string text;
  for (const MemoryKind &kind : kMemoryKinds)
    if (const int64_t bytes = offloaded.*kind.bytes; bytes > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind.name,
                          formatBytes(static_cast<uint64_t>(bytes)));
  return text;
}

std::string sentence(const Verdict &verdict, uint32_t ranks) {
  std::string text = fitText(verdict, ranks);
  if (verdict.memory.host)
    text += fmt::format("; {} of the host's memory ({})", formatNeededBytes(verdict.memory.host),
                        kindsText(verdict.host));
  if (verdict.memory.disk)
    text += fmt::format("; {} on disk ({})", formatNeededBytes(verdict.memory.disk), kindsText(verdict.disk));
  if (!verdict.stepSeconds)
    return text + ". The plan does not predict how long a step takes.";
  text += fmt::format(". A step is predicted to take {}", secondsText(*verdict.stepSeconds));
  if (verdict.communicationSeconds <= 0)
    return text + (ranks > 1 ? ", without communication." : ".");
  return text + fmt::format("; of {} of communication, {} are exposed, {:.1f} % of the step.",
                            secondsText(verdict.communicationSeconds), secondsText(verdict.exposedSeconds),
                            100 * verdict.exposedSeconds / *verdict.stepSeconds);
}

} // namespace trainc::report
