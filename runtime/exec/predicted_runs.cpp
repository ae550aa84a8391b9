#include "runtime/exec/predicted_runs.h"

#include "plan/simulate/simulation.h"

#include <algorithm>
#include <ranges>

namespace trainc {

static bool isPredicted(const fb::Instruction *instruction) { return instruction->predicted_seconds() > 0; }

PredictedRuns::PredictedRuns(const fb::Plan &plan) {
  for (const fb::Entry *entry : *plan.entries())
    if (std::ranges::any_of(*entry->instructions(), isPredicted))
      entries_.push_back(entry);
  if (entries_.empty())
    return;
  const Machine &machine = clusterOf(plan).machine;
  slowdowns_ = streamSlowdowns(machine);
  step_ = scheduleStep(plan, predictedSeconds, slowdowns_, machine.copiesOutlastEntries);
}

void PredictedRuns::reserve(const Program &program) {
  if (std::ranges::find(entries_, program.entry) == entries_.end())
    return;
  Entry entry{.run = {program.entry, scheduleOfRun(*program.entry)}, .steps = 0};
  for (const Block &block : program.blocks)
    entry.steps += block.iterations * (block.end - block.begin);
  known_.push_back(std::move(entry));
  for (const Step &step : program.steps)
    entryOf_.emplace(step.instruction, &known_.back());
}

/// Takes the last of several runs of an entry in a step.
Schedule PredictedRuns::scheduleOfRun(const fb::Entry &entry) const {
  for (const ScheduledRuns &each : step_ | std::views::reverse)
    if (each.entry == &entry)
      return each.schedule;
  return scheduleOf(entry, predictedSeconds, slowdowns_);
}

const PredictedRuns::Run *PredictedRuns::begins(const Step &step) {
  const auto found = entryOf_.find(step.instruction);
  if (found == entryOf_.end())
    return nullptr;
  Entry &entry = *found->second;
  const bool isFirst = entry.told == 0;
  entry.told = (entry.told + 1) % entry.steps;
  return isFirst ? &entry.run : nullptr;
}

} // namespace trainc
