// What runs when: tasks on streams, each after others, as a plan orders its instructions.
#pragma once

#include <cstdint>
#include <vector>

namespace trainc {

/// What runs on one stream without a break.
struct Task {
  uint32_t stream = kComputeStream;
  double seconds = 0;          ///< where nothing slows it down
  std::vector<uint32_t> after; ///< earlier tasks, on any stream, that end before it begins
  bool outlasts = false;       ///< may go on when all others have ended

  /// The stream whose work may slow others down, and whose idle time is exposed: as fb::Stream::Compute.
  static constexpr uint32_t kComputeStream = 0;
};

/// From when to when, in seconds from the beginning.
struct TaskSpan {
  double begin = 0, end = 0;

  double seconds() const { return end - begin; }
  bool operator==(const TaskSpan &) const = default;
};

/// A time in which the compute stream has nothing to do, before `task`, or at the end.
struct ComputeWait {
  static constexpr uint32_t kEnd = UINT32_MAX, kBefore = UINT32_MAX - 1;

  TaskSpan span;
  uint32_t task = kEnd;   ///< what begins then, or kEnd
  uint32_t waitedFor = 0; ///< what ends then, or kBefore: something of the entry before (entry_runs.h)
};

/// What one stream does.
struct StreamSeconds {
  double busy = 0;    ///< a task runs
  double exposed = 0; ///< a task runs, and none on the compute stream
};

/// When tasks run that begin as soon as they can.
struct Schedule {
  double seconds = 0;             ///< until the last one has ended, except for those that outlast the others
  std::vector<TaskSpan> tasks;    ///< as numbered
  std::vector<ComputeWait> waits; ///< in the order of time, each longer than nothing
  std::vector<StreamSeconds> streams; ///< as numbered; within `seconds`
};

/// How a stream and the compute stream slow each other down while both run a task.
struct StreamSlowing {
  double share = 1; ///< what the stream keeps of its rate: above 0 and at most 1
  /// Seconds that each of its tasks takes from the compute stream if that runs beside all of it; a tenth of
  /// its rate the compute stream keeps.
  double taken = 0;
};

/// Runs tasks: each begins when those before it on its stream and those that it comes `after` have ended. As
/// many of `slowing` as streams; that of the compute stream counts for nothing. The same tasks give the same
/// times.
Schedule runTasks(const std::vector<Task> &tasks, const std::vector<StreamSlowing> &slowing);

} // namespace trainc
