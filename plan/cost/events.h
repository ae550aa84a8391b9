// Discrete-event simulation of tasks on streams with dependencies, like a plan's instructions.
#pragma once

#include <cstdint>
#include <vector>

namespace trainc {

/// A unit of work on one stream.
struct Task {
  uint32_t stream = kComputeStream;
  double seconds = 0;          ///< without contention
  std::vector<uint32_t> after; ///< earlier tasks, on any stream, that must end first
  bool outlasts = false;       ///< whether it may continue after all other tasks have ended

  /// Compute stream (fb::Stream::Compute). Other streams may slow it down. Their time is exposed while it is
  /// idle.
  static constexpr uint32_t kComputeStream = 0;
};

/// Begin and end, in seconds from the start of the schedule.
struct TaskSpan {
  double begin = 0, end = 0;

  double seconds() const { return end - begin; }
  bool operator==(const TaskSpan &) const = default;
};

/// Idle time of the compute stream, before `task` or at the end.
struct ComputeWait {
  static constexpr uint32_t kEnd = UINT32_MAX, kBefore = UINT32_MAX - 1;

  TaskSpan span;
  uint32_t task = kEnd; ///< task that begins afterwards, or kEnd
  /// Task whose end ends the wait, or kBefore: a task of the previous entry (entry_runs.h).
  uint32_t waitedFor = 0;
};

/// Utilisation of a stream.
struct StreamSeconds {
  double busy = 0;    ///< time in which a task runs
  double exposed = 0; ///< time in which a task runs and the compute stream is idle
};

/// Schedule of tasks that begin as soon as possible.
struct Schedule {
  double seconds = 0;                 ///< end of the last task, except for outlasting ones
  std::vector<TaskSpan> tasks;        ///< by task
  std::vector<ComputeWait> waits;     ///< in order of time, of positive length
  std::vector<StreamSeconds> streams; ///< by stream; within `seconds`
};

/// Contention between a stream and the compute stream while both run tasks.
struct StreamSlowdown {
  double share = 1; ///< fraction of its rate that the stream keeps; in (0, 1]
  /// Seconds that each task of the stream takes from the compute stream if both overlap completely; the
  /// compute stream keeps at least a tenth of its rate.
  double taken = 0;
};

/// Schedules tasks: each begins when the previous tasks of its stream and those in `after` have ended.
/// `slowdowns` has one element per stream; the compute stream's own is ignored. Deterministic.
Schedule runTasks(const std::vector<Task> &tasks, const std::vector<StreamSlowdown> &slowdowns);

} // namespace trainc
