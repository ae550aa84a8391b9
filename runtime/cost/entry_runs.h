// The entries of a training step, one after the other, where tasks of one may go on beside the next.
#pragma once

#include "runtime/cost/events.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace trainc {

/// An entry that a step runs so many times, one after the other.
struct EntryTasks {
  std::vector<Task> tasks; ///< those that outlast the entry are the last ones of their stream, and all of one
  uint64_t runs = 1;
};

/// Before `task` of an entry begins, `before` of the one before it has ended, and so have all in front of
/// that on its stream.
struct TaskWait {
  uint32_t task, before;
};

/// What `entry` waits for if tasks of `previous`, both numbered as entries of the step, still run; ascending.
using WaitsBehind = std::function<std::vector<TaskWait>(size_t previous, size_t entry)>;

/// Runs of an entry that take equal times.
struct EntryRuns {
  size_t entry;
  uint64_t runs;
  Schedule schedule; ///< of one of them. What outlasts it has times as if nothing came behind
};

/// Runs a step between others like it. What entries before have left runs in front of an entry's own tasks on
/// its stream. An entry that leaves something itself ends when that has ended, too.
std::vector<EntryRuns> runStep(const std::vector<EntryTasks> &entries, const WaitsBehind &waits,
                               const std::vector<StreamSlowing> &slowing);

} // namespace trainc
