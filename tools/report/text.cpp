#include "tools/report/text.h"

#include "base/units.h"
#include "plan/facts/step_entries.h"
#include "plan/facts/view.h"
#include "tools/report/collectives.h"
#include "tools/report/largest_batches.h"
#include "tools/report/offloadable.h"
#include "tools/report/peak.h"
#include "tools/report/proofs.h"
#include "tools/report/settings.h"
#include "tools/report/verdict.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace trainc::report {

namespace {

constexpr size_t kRows = 8;

/// Text that grows line by line.
class Lines {
public:
  template <typename... Args> void add(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  std::string take() && { return std::move(text_); }

private:
  std::string text_;
};

double percentOf(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

/// A bar of up to 32 marks, "########"; at least one for a nonzero part.
std::string barText(uint64_t part, uint64_t whole) {
  const auto marks =
      static_cast<size_t>(percentOf(static_cast<double>(part), static_cast<double>(whole)) * 0.32);
  return std::string(part > 0 ? std::max<size_t>(marks, 1) : 0, '#');
}

/// Truncates a text to `maximum` characters.
std::string shortText(std::string_view text, size_t maximum) {
  return text.size() <= maximum ? std::string(text) : std::string(text.substr(0, maximum - 3)) + "...";
}

void addPeak(const Analysis &analysis, uint64_t peak, Lines &lines) {
  std::map<std::string, uint64_t> kinds, blocks;
  for (const PeakPart &part : peakParts(analysis)) {
    kinds[part.isUnused ? "unused" : kindName(part.kind)] += part.bytes;
    if (!part.block.empty())
      blocks[part.block] += part.bytes;
  }
  if (analysis.peakEntry)
    lines.add(
        "\nThe peak, at instruction {} of {}:", nameOf(analysis.peakEntry->moments[analysis.peakMoment]),
        view(analysis.peakEntry->entry->name()));
  else
    lines.add("\nThe peak:");
  std::vector<std::pair<std::string, uint64_t>> rows(kinds.begin(), kinds.end());
  const auto bySize = [](const auto &a, const auto &b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  };
  std::ranges::sort(rows, bySize);
  for (const auto &[kind, bytes] : rows)
    if (bytes > 0)
      lines.add("  {:20} {:>10} {:5.1f} %  {}", kind, formatBytes(bytes),
                percentOf(static_cast<double>(bytes), static_cast<double>(peak)), barText(bytes, peak));
  rows.assign(blocks.begin(), blocks.end());
  std::ranges::sort(rows, bySize);
  lines.add("\nBlocks that hold most of it:");
  for (const auto &[block, bytes] : std::span(rows).first(std::min(rows.size(), kRows)))
    lines.add("  {:20} {:>10} {:5.1f} %  {}", shortText(block, 20), formatBytes(bytes),
              percentOf(static_cast<double>(bytes), static_cast<double>(peak)), barText(bytes, peak));
}

void addTime(const Analysis &analysis, const Verdict &verdict, Lines &lines) {
  if (!verdict.stepSeconds)
    return;
  lines.add("\nA step, predicted:");
  const fb::Entry *before = nullptr;
  for (const ScheduledRuns &each : analysis.step) {
    const bool isFirst = each.entry != before && each.runs < runsPerStep(analysis.plan, *each.entry);
    lines.add("  {:20} {:>10}{}{}", view(each.entry->name()), secondsText(each.schedule.seconds),
              each.runs > 1 ? fmt::format(", {} times", each.runs) : "", isFirst ? ", the first" : "");
    before = each.entry;
  }
  for (const CollectiveSum &each : collectivesOf(analysis))
    lines.add("  {:20} {:>10}, {} of them, each rank sends {}", each.kind, secondsText(each.seconds),
              each.count, formatBytes(each.sentBytes));
}

void addRemakes(const Analysis &analysis, Lines &lines) {
  const std::vector<RecomputableValue> recomputable = recomputableValues(analysis);
  if (recomputable.empty())
    return;
  lines.add("\nRecomputing values would save at most, and cost at least in a step:");
  for (const RecomputableValue &each : std::span(recomputable).first(std::min(recomputable.size(), kRows)))
    lines.add("  {:>10} for {:>8}  {}", formatBytes(each.bytes), secondsText(each.seconds),
              shortText(each.what, 70));
}

void addMoves(const Analysis &analysis, Lines &lines) {
  const OffloadableKinds offloadable = offloadableKinds(analysis);
  if (offloadable.kinds.empty())
    return;
  lines.add("\nWhat keeping it on {} would save at most, and copy in a step:",
            offloadable.to == "disk" ? "disk" : "the host");
  for (const OffloadableKind &each : offloadable.kinds)
    lines.add("  {:>10} for {:>8}  --offload={}", formatBytes(each.bytes),
              each.seconds ? secondsText(*each.seconds) : "?", each.offload);
}

void addLargestBatches(const Analysis &analysis, Lines &lines) {
  const std::vector<LargestBatch> batches = largestBatchesOf(analysis);
  if (batches.empty())
    return;
  lines.add("\nThe largest micro-batches that fit into {}, by activation checkpointing:",
            formatBytes(largestBatchesLimit(analysis)));
  for (const LargestBatch &each : batches)
    lines.add("  {:20} {:>10}{}", each.checkpointing, each.samples,
              each.times ? fmt::format(", {:.2f} times those of none, {:+.1f} % time a sample", *each.times,
                                       100 * *each.extraTime)
              : each.samples == 0 ? ", not one sample fits"
                                  : "");
}

void addSettings(const fb::Plan &plan, Lines &lines) {
  lines.add("\nSettings that were given or decided:");
  for (const KnownSetting &each : knownSettingsOf(plan))
    if (!each.isDefault)
      lines.add("  {:24} {:32} {}", each.setting, each.shown(), each.source);
}

void addProofs(const fb::Plan &plan, Lines &lines) {
  lines.add("\nProven of this plan:");
  for (const Proof &each : proofsOf(plan))
    lines.add("  {:>8} {} {}", each.count, each.subject, each.statement);
}

/// A value of a difference for people; texts are unchanged. Numbers among texts are bytes.
std::string valueText(const nlohmann::json &value, const std::string &unit) {
  if (value.is_null())
    return "none";
  if (!value.is_number())
    return value.is_string() ? value.get<std::string>() : value.dump();
  const auto number = value.get<double>();
  return unit == "bytes" || unit == "text" ? formatBytes(static_cast<uint64_t>(number))
         : unit == "seconds"               ? secondsText(number)
                                           : fmt::format("{}", value.get<int64_t>());
}

/// Relative change, " (+12.5 %)", of two numbers; the first must not be 0.
std::string growthText(const nlohmann::json &a, const nlohmann::json &b) {
  if (!a.is_number() || !b.is_number() || a.get<double>() == 0)
    return "";
  const double ratio = b.get<double>() / a.get<double>();
  return ratio < 10 ? fmt::format("{:+.1f} %", 100 * (ratio - 1)) : fmt::format("{:.0f} times", ratio);
}

} // namespace

std::string summaryText(const Analysis &analysis, std::string_view file) {
  const fb::Plan &plan = analysis.plan;
  const Verdict verdict = verdictOf(analysis);
  Lines lines;
  lines.add("{} ({}): target {}, {}", view(plan.name()), file, view(plan.target()),
            plan.ranks() > 1 ? fmt::format("{} ranks", plan.ranks()) : "one rank");
  lines.add("{}", sentence(verdict, plan.ranks()));
  addPeak(analysis, verdict.memory.arenas, lines);
  addTime(analysis, verdict, lines);
  addRemakes(analysis, lines);
  addMoves(analysis, lines);
  addLargestBatches(analysis, lines);
  addSettings(plan, lines);
  addProofs(plan, lines);
  return std::move(lines).take();
}

std::string differenceText(const nlohmann::json &difference) {
  Lines lines;
  const auto plan = [&](const char *key) {
    return fmt::format("{} ({})", difference[key]["name"].get<std::string>(),
                       difference[key]["file"].get<std::string>());
  };
  lines.add("From {} to {}:", plan("from"), plan("to"));
  for (const nlohmann::json &group : difference["groups"]) {
    const auto unit = group["unit"].get<std::string>();
    lines.add("\n{}{}", group["title"].get<std::string>(), group["rows"].empty() ? ": nothing changed" : ":");
    for (const nlohmann::json &row : group["rows"])
      lines.add("  {:40} {:>16} -> {:16} {}", shortText(row["what"].get<std::string>(), 40),
                valueText(row["from"], unit), valueText(row["to"], unit), growthText(row["from"], row["to"]));
  }
  return std::move(lines).take();
}

} // namespace trainc::report
