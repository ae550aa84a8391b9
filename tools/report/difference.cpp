#include "tools/report/difference.h"

#include "plan/facts/mesh.h"
#include "plan/facts/view.h"
#include "tools/report/collectives.h"
#include "tools/report/document_entries.h"
#include "tools/report/peak.h"
#include "tools/report/settings.h"
#include "tools/report/verdict.h"

#include <map>

namespace trainc::report {

namespace {

using nlohmann::json;

/// Rows of a plan under one heading, in display order.
using Rows = std::vector<std::pair<std::string, json>>;

Rows factRows(const Analysis &analysis) {
  const fb::Plan &plan = analysis.plan;
  return {{"model", view(plan.name())},
          {"target", view(plan.target())},
          {"ranks", fmt::format("{}", plan.ranks())},
          {"mesh", Mesh(plan).text()}};
}

/// Settings that a program has several times, such as groups, are joined into one value.
Rows settingRows(const Analysis &analysis) {
  Rows rows;
  for (const KnownSetting &each : knownSettingsOf(analysis.plan))
    if (!rows.empty() && rows.back().first == each.setting && rows.back().second.is_string())
      rows.back().second = rows.back().second.get<std::string>() + "; " + each.value;
    else
      rows.emplace_back(each.setting, each.bytes ? json(*each.bytes) : json(each.value));
  return rows;
}

Rows memoryRows(const Analysis &analysis) {
  const Verdict verdict = verdictOf(analysis);
  Rows rows = {{"planned peak", verdict.memory.arenas},
               {"besides, at most", verdict.memory.besides ? json(*verdict.memory.besides) : json()},
               {"of the host", verdict.memory.host},
               {"on disk", verdict.memory.disk}};
  std::map<std::string, uint64_t> kinds;
  for (const PeakPart &part : peakParts(analysis))
    kinds[part.isUnused ? "unused" : kindName(part.kind)] += part.bytes;
  for (const auto &[kind, bytes] : kinds)
    rows.emplace_back("at the peak: " + kind, bytes);
  return rows;
}

Rows timeRows(const Analysis &analysis) {
  const Verdict verdict = verdictOf(analysis);
  Rows rows = {{"a step", verdict.stepSeconds ? json(roundSeconds(*verdict.stepSeconds)) : json()},
               {"communication", roundSeconds(verdict.communicationSeconds)},
               {"exposed communication", roundSeconds(verdict.exposedSeconds)}};
  for (const EntryAnalysis &each : analysis.entries) {
    double seconds = 0;
    for (const ScheduledRuns &runs : analysis.step)
      seconds += runs.entry == each.entry ? static_cast<double>(runs.runs) * runs.schedule.seconds : 0;
    if (each.runs > 0)
      rows.emplace_back(fmt::format("all runs of {}", view(each.entry->name())), roundSeconds(seconds));
    else
      rows.emplace_back(fmt::format("entry {}", view(each.entry->name())),
                        roundSeconds(each.schedule.seconds));
  }
  return rows;
}

Rows instructionRows(const Analysis &analysis) {
  Rows rows;
  std::map<std::string, uint64_t> classes;
  for (const EntryAnalysis &each : analysis.entries) {
    rows.emplace_back(fmt::format("entry {}", view(each.entry->name())), each.entry->instructions()->size());
    if (each.runs > 0)
      rows.emplace_back(fmt::format("runs of {} in a step", view(each.entry->name())), each.runs);
    for (const Moment &moment : each.moments)
      if (each.runs > 0)
        classes[classOf(analysis.plan, *moment.instruction)] += each.runs * moment.iterations;
  }
  for (const auto &[name, count] : classes)
    rows.emplace_back("in a step: " + name, count);
  return rows;
}

Rows collectiveRows(const Analysis &analysis, bool bytes) {
  Rows rows;
  for (const CollectiveSum &each : collectivesOf(analysis))
    rows.emplace_back(each.kind, bytes ? each.sentBytes : each.count);
  return rows;
}

json valueOf(const Rows &rows, const std::string &what) {
  for (const auto &[name, value] : rows)
    if (name == what)
      return value;
  return nullptr;
}

json groupOf(const char *title, const char *unit, const Rows &from, const Rows &to) {
  json rows = json::array();
  const auto add = [&](const std::string &what) {
    const json before = valueOf(from, what), after = valueOf(to, what);
    if (before != after)
      rows.push_back({{"what", what}, {"from", before}, {"to", after}});
  };
  for (const auto &[what, value] : from)
    add(what);
  for (const auto &[what, value] : to)
    if (valueOf(from, what).is_null())
      add(what);
  return {{"title", title}, {"unit", unit}, {"rows", rows}};
}

json nameOf(const Analysis &analysis, std::string_view file) {
  return {{"name", view(analysis.plan.name())}, {"file", file}, {"producer", view(analysis.plan.producer())}};
}

} // namespace

json differenceOf(const Analysis &from, std::string_view fromFile, const Analysis &to,
                  std::string_view toFile) {
  return {
      {"difference", true},
      {"from", nameOf(from, fromFile)},
      {"to", nameOf(to, toFile)},
      {"sentences", {sentence(verdictOf(from), from.plan.ranks()), sentence(verdictOf(to), to.plan.ranks())}},
      {"groups",
       {groupOf("Model, target and ranks", "text", factRows(from), factRows(to)),
        groupOf("Settings", "text", settingRows(from), settingRows(to)),
        groupOf("Memory", "bytes", memoryRows(from), memoryRows(to)),
        groupOf("Predicted seconds", "seconds", timeRows(from), timeRows(to)),
        groupOf("Collectives of a step", "count", collectiveRows(from, false), collectiveRows(to, false)),
        groupOf("Sent by each rank in a step", "bytes", collectiveRows(from, true), collectiveRows(to, true)),
        groupOf("Instructions", "count", instructionRows(from), instructionRows(to))}}};
}

} // namespace trainc::report
