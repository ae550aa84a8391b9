// A plan's entries as tasks on streams, and how often a training step runs them.
#pragma once

#include "runtime/cost/entry_runs.h"
#include "runtime/cost/machine.h"
#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace trainc {

/// What an instruction takes where nothing else runs, in seconds; of a loop all iterations.
using InstructionSeconds = std::function<double(const fb::Instruction &)>;

/// What the file says: predicted_seconds.
double predictedSeconds(const fb::Instruction &instruction);

/// For each stream of plans, as runTasks() wants it: what collectives keep of their rate beside computation,
/// and what transfers to and from the disk take from it.
std::vector<StreamSlowing> streamSlowing(const Machine &machine);

/// Runs a verified entry until all has ended. The tasks are numbered as its instructions are.
Schedule scheduleOf(const fb::Entry &entry, const InstructionSeconds &seconds,
                    const std::vector<StreamSlowing> &slowing);

/// Runs of an entry in a training step that take equal times.
struct ScheduledRuns {
  const fb::Entry *entry;
  uint64_t runs;
  Schedule schedule; ///< of one; see EntryRuns
};

/// Runs a training step of a verified plan, between others like it. `copiesOutlast`: see
/// Machine::copiesOutlastEntries.
std::vector<ScheduledRuns> scheduleStep(const fb::Plan &plan, const InstructionSeconds &seconds,
                                        const std::vector<StreamSlowing> &slowing, bool copiesOutlast);

/// How often a training step of the plan runs an entry of its own; 0 for entries of other uses.
uint64_t runsPerStep(const fb::Plan &plan, const fb::Entry &entry);

} // namespace trainc
