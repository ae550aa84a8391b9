// Entries of a training step in sequence, where tasks of one may overlap with the next.
#pragma once

#include "plan/cost/events.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace trainc {

/// An entry that a step runs `runs` times in sequence.
struct EntryTasks {
  /// Tasks that outlast the entry are the last ones of their stream, all on one stream.
  std::vector<Task> tasks;
  uint64_t runs = 1;
};

/// `task` of an entry begins only after `before`, a task of the previous entry, and all earlier tasks on its
/// stream have ended.
struct TaskWait {
  uint32_t task, before;
  bool operator==(const TaskWait &) const = default;
};

/// Returns the waits of tasks of entry `entry` for tasks of entry `previous` that may still be in flight.
/// Both are indices of entries of the step. The waits are in ascending order.
using WaitsForPrevious = std::function<std::vector<TaskWait>(size_t previous, size_t entry)>;

/// Consecutive runs of an entry that have equal schedules.
struct EntryRuns {
  size_t entry;
  uint64_t runs;
  Schedule schedule; ///< of one run; tasks that outlast it are timed as if nothing followed
};

/// Simulates a step between other such steps. Tasks that outlast an entry run before the next entry's own
/// tasks on their stream. If the next entry has outlasting tasks, too, it ends only after those of the
/// previous entry have ended.
std::vector<EntryRuns> runStep(const std::vector<EntryTasks> &entries, const WaitsForPrevious &waits,
                               const std::vector<StreamSlowdown> &slowdowns);

} // namespace trainc
