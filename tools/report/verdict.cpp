#include "tools/report/verdict.h"

#include "runtime/plan/settings.h"
#include "runtime/plan/view.h"

#include <algorithm>
#include <charconv>
#include <cmath>

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

void addArenas(const Analysis &analysis, Verdict &verdict) {
  for (const fb::Arena *arena : *analysis.plan.arenas())
    if (analysis.counts(*arena))
      verdict.peak += arena->bytes();
    else if (arena->space() == fb::Space::Disk)
      verdict.disk += arena->bytes();
    else
      verdict.host += arena->bytes();
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

/// With three digits where there is a point; of two equally near numbers the larger one, as the page has it.
static std::string digitsText(double value) {
  const int digits = std::abs(value) < 10 ? 2 : std::abs(value) < 100 ? 1 : 0;
  const double scale = std::pow(10, digits);
  return fmt::format("{:.{}f}", std::round(value * scale) / scale, digits);
}

std::string bytesText(double bytes) {
  static constexpr const char *units[] = {"KiB", "MiB", "GiB", "TiB"};
  if (std::abs(bytes) < 1024)
    return fmt::format("{:.0f} bytes", bytes);
  size_t unit = 0;
  for (bytes /= 1024; std::abs(bytes) >= 1024 && unit + 1 < std::size(units); bytes /= 1024)
    ++unit;
  return fmt::format("{} {}", digitsText(bytes), units[unit]);
}

std::string secondsText(double seconds) {
  static constexpr std::pair<double, const char *> units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
  for (const auto &[size, name] : units)
    if (seconds >= size)
      return fmt::format("{} {}", digitsText(seconds / size), name);
  return seconds > 0 ? fmt::format("{:.2g} us", seconds * 1e6) : "0 s";
}

static std::string fitText(const Verdict &verdict, uint32_t ranks) {
  const std::string each = ranks > 1 ? " on each rank" : "";
  const std::string together = bytesText(static_cast<double>(verdict.peak + verdict.unplanned));
  const std::optional<int64_t> headroom = verdict.headroom();
  const std::string besides = verdict.unplanned
                                  ? fmt::format(" (its arenas {}, besides them at most {})",
                                                bytesText(static_cast<double>(verdict.peak)),
                                                bytesText(static_cast<double>(verdict.unplanned)))
                                  : "";
  if (!headroom)
    return fmt::format("Needs {}{}{}, no limit was given", together, each, besides);
  const std::string limit = bytesText(static_cast<double>(*verdict.limit));
  if (*headroom < 0)
    return fmt::format("Does not fit: needs {}{}{}, {} more than the limit of {}", together, each, besides,
                       bytesText(static_cast<double>(-*headroom)), limit);
  return fmt::format("Fits: needs {}{}{} of {} allowed, {} to spare", together, each, besides, limit,
                     bytesText(static_cast<double>(*headroom)));
}

std::string sentence(const Verdict &verdict, uint32_t ranks) {
  std::string text = fitText(verdict, ranks);
  if (verdict.host)
    text += fmt::format("; {} of the host's memory", bytesText(static_cast<double>(verdict.host)));
  if (verdict.disk)
    text += fmt::format("; {} on disk", bytesText(static_cast<double>(verdict.disk)));
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
