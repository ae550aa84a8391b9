#include "tools/report/verdict.h"

#include "runtime/base/units.h"
#include "runtime/plan/settings.h"
#include "runtime/plan/view.h"

#include <algorithm>
#include <charconv>

namespace trainc::report {

namespace {

std::optional<uint64_t> limitOf(const fb::Plan &plan) {
  const std::string text = settingOf(plan, "memory_limit");
  uint64_t limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error != std::errc() || end != text.data() + text.size() || limit == 0)
    return std::nullopt;
  return limit;
}

uint64_t unplannedOf(const nlohmann::json &report) {
  const auto memory = report.find("memory");
  if (memory == report.end() || !memory->is_object())
    return 0;
  const auto bytes = memory->find("unplanned");
  return bytes != memory->end() && bytes->is_number_unsigned() ? bytes->get<uint64_t>() : 0;
}

bool isPredicted(const EntryAnalysis &each) {
  return std::ranges::all_of(*each.entry->instructions(), [](const fb::Instruction *instruction) {
    return instruction->predicted_seconds() > 0;
  });
}

void addTo(Outside &outside, const fb::Arena &arena, const Analysis &analysis) {
  const auto kindIn = [&](Kind kind) -> uint64_t & { return outside.kinds[static_cast<size_t>(kind)]; };
  uint64_t &rest = kindIn(arena.persistent() ? Kind::Workspace : Kind::Activation);
  outside.bytes += arena.bytes();
  rest += arena.bytes();
  const auto &buffers = *analysis.plan.buffers();
  for (uint32_t i = 0; arena.persistent() && i < buffers.size(); ++i)
    if (analysis.plan.arenas()->Get(buffers[i]->arena()) == &arena) {
      rest -= buffers[i]->bytes();
      kindIn(analysis.labels.kind(i)) += buffers[i]->bytes();
    }
}

void addArenas(const Analysis &analysis, Verdict &verdict) {
  for (const fb::Arena *arena : *analysis.plan.arenas())
    if (analysis.counts(*arena))
      verdict.peak += arena->bytes();
    else
      addTo(arena->space() == fb::Space::Disk ? verdict.disk : verdict.host, *arena, analysis);
}

} // namespace

std::optional<int64_t> Verdict::headroom() const {
  if (!limit)
    return std::nullopt;
  return static_cast<int64_t>(*limit) - static_cast<int64_t>(peak + unplanned);
}

Verdict verdictOf(const Analysis &analysis) {
  Verdict verdict;
  addArenas(analysis, verdict);
  verdict.unplanned = unplannedOf(analysis.compileReport);
  verdict.limit = limitOf(analysis.plan);
  constexpr auto link = static_cast<size_t>(fb::Stream::Communication);
  bool allPredicted = true;
  double seconds = 0;
  for (const EntryAnalysis &each : analysis.entries) {
    const auto runs = static_cast<double>(each.runs);
    if (each.runs == 0)
      continue;
    allPredicted &= isPredicted(each);
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

static std::string fitText(const Verdict &verdict, uint32_t ranks) {
  const std::string each = ranks > 1 ? " on each rank" : "";
  const std::string together = formatBytes(verdict.peak + verdict.unplanned);
  const std::optional<int64_t> headroom = verdict.headroom();
  const std::string besides = verdict.unplanned
                                  ? fmt::format(" (its arenas {}, besides them at most {})",
                                                formatBytes(verdict.peak), formatBytes(verdict.unplanned))
                                  : "";
  if (!headroom)
    return fmt::format("Needs {}{}{}, no limit was given", together, each, besides);
  const std::string limit = formatBytes(*verdict.limit);
  if (*headroom < 0)
    return fmt::format("Does not fit: needs {}{}{}, {} more than the limit of {}", together, each, besides,
                       formatBytes(static_cast<uint64_t>(-*headroom)), limit);
  return fmt::format("Fits: needs {}{}{} of {} allowed, {} to spare", together, each, besides, limit,
                     formatBytes(static_cast<uint64_t>(*headroom)));
}

/// "optimizer states 6.38 MiB, activations 18.1 MiB".
static std::string kindsText(const Outside &outside) {
  std::string text;
  for (size_t kind = 0; kind < kKinds; ++kind)
    if (outside.kinds[kind])
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kindName(static_cast<Kind>(kind)),
                          formatBytes(outside.kinds[kind]));
  return text;
}

std::string sentence(const Verdict &verdict, uint32_t ranks) {
  std::string text = fitText(verdict, ranks);
  if (verdict.host.bytes)
    text += fmt::format("; {} of the host's memory ({})", formatBytes(verdict.host.bytes),
                        kindsText(verdict.host));
  if (verdict.disk.bytes)
    text += fmt::format("; {} on disk ({})", formatBytes(verdict.disk.bytes), kindsText(verdict.disk));
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
