#include "tools/report/analysis.h"

#include "base/json_text.h"
#include "plan/facts/library_calls.h"
#include "plan/facts/step_entries.h"
#include "plan/facts/view.h"
#include "plan/schema/enum_words.h"
#include "plan/simulate/simulation.h"

#include <algorithm>
#include <ranges>

namespace trainc::report {

const ArenaPeak *EntryAnalysis::peak(const fb::Plan &plan) const {
  const ArenaPeak *found = nullptr;
  for (const ArenaPeak &each : occupancy.peaks)
    if (plan.arenas()->Get(each.arena)->space() == fb::Space::Device && (!found || each.held > found->held))
      found = &each;
  return found;
}

Analysis::Analysis(const fb::Plan &plan) : plan(plan), labels(plan) {
  const Machine &machine = clusterOf(plan).machine;
  const std::vector<StreamSlowdown> slowdowns = streamSlowdowns(machine);
  step = scheduleStep(plan, predictedSeconds, slowdowns, machine.copiesOutlastEntries);
  for (const fb::Entry *entry : *plan.entries()) {
    const auto inStep = std::ranges::find(step | std::views::reverse, entry, &ScheduledRuns::entry);
    EntryAnalysis each{.entry = entry,
                       .runs = runsPerStep(plan, *entry),
                       .schedule = inStep != step.rend() ? inStep->schedule
                                                         : scheduleOf(*entry, predictedSeconds, slowdowns),
                       .moments = {},
                       .occupancy = {}};
    each.moments = momentsOf(*entry, each.schedule);
    each.occupancy = occupancyOf(plan, each.moments);
    entries.push_back(std::move(each));
  }
  uint64_t maximum = 0;
  for (const EntryAnalysis &each : entries)
    if (const ArenaPeak *peak = each.peak(plan); peak && peak->held > maximum) {
      maximum = peak->held;
      peakEntry = &each;
      peakMoment = peak->moment;
    }
  compileReport = tryParseJson(view(plan.report()));
  if (!compileReport.is_object())
    compileReport = nlohmann::json::object();
}

std::string classOf(const fb::Plan &plan, const fb::Instruction &instruction) {
  if (const fb::Launch *launch = instruction.operation_as_Launch()) {
    const fb::KernelKind kind = plan.kernels()->Get(launch->kernel())->kind();
    return kind == fb::KernelKind::Gemm ? "product" : wordOf(kind);
  }
  if (instruction.operation_type() == fb::Operation::Collective)
    return "collective";
  if (instruction.operation_type() == fb::Operation::MatrixProduct)
    return "product";
  return isLibraryCall(instruction) ? "attention" : "copy";
}

} // namespace trainc::report
