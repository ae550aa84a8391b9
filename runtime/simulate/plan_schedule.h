// Schedules of a plan's entries: instructions as tasks on streams, and runs per training step.
#pragma once

#include "runtime/cost/entry_runs.h"
#include "runtime/cost/machine.h"
#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace trainc {

/// Time of an instruction without contention, in seconds; for a loop, of all iterations.
using InstructionSeconds = std::function<double(const fb::Instruction &)>;

/// The predicted_seconds of the plan file.
double predictedSeconds(const fb::Instruction &instruction);

/// Contention for each stream of the plan, as input of runTasks(): the share of their rate that collectives
/// keep during computation, and the time that disk transfers take from computation.
std::vector<StreamSlowing> streamSlowing(const Machine &machine);

/// Simulates a verified entry until all instructions have ended. Tasks have the indices of instructions.
Schedule scheduleOf(const fb::Entry &entry, const InstructionSeconds &seconds,
                    const std::vector<StreamSlowing> &slowing);

/// Runs of an entry in a training step that take equal times.
struct ScheduledRuns {
  const fb::Entry *entry;
  uint64_t runs;
  Schedule schedule; ///< of one run; see EntryRuns
};

/// Simulates a training step of a verified plan among other such steps. `copiesOutlast`: see
/// Machine::copiesOutlastEntries.
std::vector<ScheduledRuns> scheduleStep(const fb::Plan &plan, const InstructionSeconds &seconds,
                                        const std::vector<StreamSlowing> &slowing, bool copiesOutlast);

/// Number of runs of an entry per training step; 0 if a step does not run it.
uint64_t runsPerStep(const fb::Plan &plan, const fb::Entry &entry);

} // namespace trainc
