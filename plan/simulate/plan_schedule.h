// Simulated schedules of a plan's entries: instructions are tasks on streams.
#pragma once

#include "plan/cost/entry_runs.h"
#include "plan/cost/machine.h"
#include "plan/schema/plan_generated.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace trainc {

/// Time of an instruction without contention, in seconds; for a loop, of all iterations.
using InstructionSeconds = std::function<double(const fb::Instruction &)>;

/// Returns the instruction's predicted_seconds in the plan file.
double predictedSeconds(const fb::Instruction &instruction);

/// Returns the contention of each stream with the compute stream, as input of runTasks(). Collectives run at
/// a fraction of their rate during computation, and disk transfers take time from computation.
std::vector<StreamSlowdown> streamSlowdowns(const Machine &machine);

/// Simulates a run of a verified entry to the end of all instructions. Tasks have the indices of
/// instructions.
Schedule scheduleOf(const fb::Entry &entry, const InstructionSeconds &seconds,
                    const std::vector<StreamSlowdown> &slowdowns);

/// Runs of one entry in a training step, with the same schedule.
struct ScheduledRuns {
  const fb::Entry *entry;
  uint64_t runs;
  Schedule schedule; ///< of one run; see EntryRuns
};

/// Simulates one training step of a verified plan, preceded and followed by equal steps. `copiesOutlast`: see
/// Machine::copiesOutlastEntries.
std::vector<ScheduledRuns> scheduleStep(const fb::Plan &plan, const InstructionSeconds &seconds,
                                        const std::vector<StreamSlowdown> &slowdowns, bool copiesOutlast);

/// Duration of a training step whose streams overlap.
struct StepSeconds {
  double total = 0;
  double communication = 0; ///< time with a collective in flight, hidden or exposed
  double exposed = 0;       ///< time with a collective in flight and nothing computing
};

/// Sums the runs of scheduleStep().
StepSeconds secondsOf(const std::vector<ScheduledRuns> &step);

/// Duration of a step of a verified plan on a machine; zero if the plan does not train.
StepSeconds predictStep(const fb::Plan &plan, const Machine &machine);

} // namespace trainc
