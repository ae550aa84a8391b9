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

/// Waits of `entry` for tasks of `previous` that are still in flight, both indices of entries of the step;
/// ascending.
using WaitsForPrevious = std::function<std::vector<TaskWait>(size_t previous, size_t entry)>;

/// Runs of an entry that take equal times.
struct EntryRuns {
  size_t entry;
  uint64_t runs;
  Schedule schedule; ///< of one run; tasks that outlast it are timed as if nothing followed
};

/// Simulates a step among other such steps. Tasks left over from the previous entry run before an entry's own
/// tasks on their stream. An entry with outlasting tasks of its own also waits for the end of the left-over
/// ones.
std::vector<EntryRuns> runStep(const std::vector<EntryTasks> &entries, const WaitsForPrevious &waits,
                               const std::vector<StreamSlowdown> &slowdowns);

} // namespace trainc
