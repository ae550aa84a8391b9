// Predicted schedules of entries.
#pragma once

#include "plan/simulate/plan_schedule.h"
#include "runtime/device/program.h"

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace trainc {

/// Finds the begin of each run of an entry among the steps reported to an observer.
class PredictedRuns {
public:
  struct Run {
    const fb::Entry *entry;
    Schedule schedule; ///< by the entry's instructions; an entry of a training step is predicted within
                       ///< several consecutive steps
  };

  explicit PredictedRuns(const fb::Plan &plan);

  /// Whether the plan has no predictions.
  bool isEmpty() const { return entries_.empty(); }
  /// `program` must outlive this object.
  void reserve(const Program &program);
  /// The run that begins with this step; null if the current run continues. All steps of all runs must be
  /// passed.
  const Run *begins(const Step &step);

private:
  Schedule scheduleOfRun(const fb::Entry &entry) const;

  struct Entry {
    Run run;
    uint64_t steps; ///< per run, counting each loop iteration
    uint64_t told = 0;
  };

  std::deque<const fb::Entry *> entries_; ///< entries with predictions
  std::vector<StreamSlowdown> slowdowns_;
  std::vector<ScheduledRuns> step_;
  std::deque<Entry> known_;
  std::unordered_map<const fb::Instruction *, Entry *> entryOf_;
};

} // namespace trainc
