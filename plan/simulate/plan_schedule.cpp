#include "plan/simulate/plan_schedule.h"

#include "plan/facts/outlasting.h"
#include "plan/facts/step_entries.h"
#include "plan/facts/streams.h"
#include "plan/facts/work.h"

namespace trainc {

double predictedSeconds(const fb::Instruction &instruction) {
  return static_cast<double>(instruction.predicted_seconds());
}

std::vector<StreamSlowdown> streamSlowdowns(const Machine &machine) {
  std::vector<StreamSlowdown> slowdowns(kStreams);
  slowdowns[static_cast<size_t>(fb::Stream::Communication)].share = machine.linkShareBesideCompute;
  slowdowns[static_cast<size_t>(fb::Stream::Disk)].taken = machine.diskComputeSeconds;
  return slowdowns;
}

static std::vector<Task> tasksOf(const fb::Entry &entry, const InstructionSeconds &seconds) {
  static_assert(static_cast<uint32_t>(fb::Stream::Compute) == Task::kComputeStream);
  std::vector<Task> tasks;
  tasks.reserve(entry.instructions()->size());
  for (const fb::Instruction *instruction : *entry.instructions()) {
    Task task{.stream = static_cast<uint32_t>(instruction->stream()),
              .seconds = seconds(*instruction),
              .after = {}};
    if (const auto *after = instruction->after())
      task.after.assign(after->begin(), after->end());
    tasks.push_back(std::move(task));
  }
  return tasks;
}

Schedule scheduleOf(const fb::Entry &entry, const InstructionSeconds &seconds,
                    const std::vector<StreamSlowdown> &slowdowns) {
  return runTasks(tasksOf(entry, seconds), slowdowns);
}

std::vector<ScheduledRuns> scheduleStep(const fb::Plan &plan, const InstructionSeconds &seconds,
                                        const std::vector<StreamSlowdown> &slowdowns, bool copiesOutlast) {
  const std::vector<const fb::Entry *> entries = stepEntries(plan);
  std::vector<EntryTasks> tasks;
  for (const fb::Entry *entry : entries) {
    tasks.push_back({tasksOf(*entry, seconds), runsPerStep(plan, *entry)});
    if (copiesOutlast)
      for (const uint32_t copy : outlastingCopies(plan, *entry))
        tasks.back().tasks[copy].outlasts = true;
  }
  const auto waits = [&](size_t previous, size_t entry) {
    return outlastingWaits(plan, *entries[previous], *entries[entry]);
  };
  std::vector<ScheduledRuns> step;
  for (EntryRuns &each : runStep(tasks, waits, slowdowns))
    step.push_back({entries[each.entry], each.runs, std::move(each.schedule)});
  return step;
}

StepSeconds secondsOf(const std::vector<ScheduledRuns> &step) {
  StepSeconds sums;
  for (const ScheduledRuns &each : step) {
    const auto runs = double(each.runs);
    const StreamSeconds &link = each.schedule.streams[static_cast<size_t>(fb::Stream::Communication)];
    sums.total += runs * each.schedule.seconds;
    sums.communication += runs * link.busy;
    sums.exposed += runs * link.exposed;
  }
  return sums;
}

StepSeconds predictStep(const fb::Plan &plan, const Machine &machine) {
  if (!plan.training())
    return {};
  const auto seconds = [&](const fb::Instruction &each) { return instructionSeconds(plan, each, machine); };
  return secondsOf(scheduleStep(plan, seconds, streamSlowdowns(machine), machine.copiesOutlastEntries));
}

} // namespace trainc
