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

void addTo(OffloadedBytes &offloaded, const fb::Arena &arena, const Analysis &analysis) {
  const auto kindIn = [&](Kind kind) -> uint64_t & { return offloaded[static_cast<size_t>(kind)]; };
  uint64_t &rest = kindIn(arena.persistent() ? Kind::Workspace : Kind::Activation);
  rest += arena.bytes();
  const auto &buffers = *analysis.plan.buffers();
  for (uint32_t i = 0; arena.persistent() && i < buffers.size(); ++i)
    if (analysis.plan.arenas()->Get(buffers[i]->arena()) == &arena) {
      rest -= buffers[i]->bytes();
      kindIn(analysis.labels.kind(i)) += buffers[i]->bytes();
    }
}

void addMemory(const Analysis &analysis, Verdict &verdict) {
  verdict.memory = memoryNeedOf(analysis.plan);
  for (const fb::Arena *arena : *analysis.plan.arenas())
    if (!isLimited(analysis.plan, *arena))
      addTo(arena->space() == fb::Space::Disk ? verdict.disk : verdict.host, *arena, analysis);
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
  constexpr auto link = static_cast<size_t>(fb::Stream::Communication);
  bool allPredicted = true;
  double seconds = 0;
  for (const ScheduledRuns &each : analysis.step) {
    const auto runs = static_cast<double>(each.runs);
    allPredicted &= isPredicted(*each.entry);
    seconds += runs * each.schedule.seconds;
    verdict.communicationSeconds += runs * each.schedule.streams[link].busy;
    verdict.exposedSeconds += runs * each.schedule.streams[link].exposed;
    verdict.flops += each.runs * each.entry->flops();
  }
  if (allPredicted && seconds > 0)
    verdict.stepSeconds = seconds;
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
  return formatBytes(need.together()) + (ranks > 1 ? " on each rank" : "") +
         (need.besides ? fmt::format(" (tensors {}, process at most {})", formatBytes(need.arenas),
                                     formatBytes(*need.besides))
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
                       formatBytes(static_cast<uint64_t>(-*headroom)), limit);
  return fmt::format("Fits: needs {} of {} allowed, {} to spare", need, limit,
                     formatBytes(static_cast<uint64_t>(*headroom)));
}

/// Description of bytes by kind: "optimizer states 6.38 MiB, activations 18.1 MiB".
static std::string kindsText(const OffloadedBytes &offloaded) {
  std::string text;
  for (size_t kind = 0; kind < kKinds; ++kind)
    if (offloaded[kind])
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kindName(static_cast<Kind>(kind)),
                          formatBytes(offloaded[kind]));
  return text;
}

std::string sentence(const Verdict &verdict, uint32_t ranks) {
  std::string text = fitText(verdict, ranks);
  if (verdict.memory.host)
    text += fmt::format("; {} of the host's memory ({})", formatBytes(verdict.memory.host),
                        kindsText(verdict.host));
  if (verdict.memory.disk)
    text += fmt::format("; {} on disk ({})", formatBytes(verdict.memory.disk), kindsText(verdict.disk));
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
