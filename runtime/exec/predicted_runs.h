// When a run of an entry would do what, by the plan's predictions.
#pragma once

#include "runtime/device/program.h"
#include "runtime/simulate/plan_schedule.h"

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace trainc {

/// Tells where runs of entries begin, by the steps that an observer is told of.
class PredictedRuns {
public:
  struct Run {
    const fb::Entry *entry;
    Schedule schedule; ///< by the entry's instructions; of one that training steps run, as in a step behind
                       ///< another one
  };

  explicit PredictedRuns(const fb::Plan &plan);

  /// Whether the plan predicts something.
  bool isEmpty() const { return entries_.empty(); }
  /// The program must outlive it.
  void reserve(const Program &program);
  /// The run that begins with this step; null where it goes on. All steps of all runs must be told.
  const Run *begins(const Step &step);

private:
  Schedule scheduleOfRun(const fb::Entry &entry) const;

  struct Entry {
    Run run;
    uint64_t steps; ///< of a run, each iteration of loops
    uint64_t told = 0;
  };

  std::deque<const fb::Entry *> entries_; ///< with predictions
  std::vector<StreamSlowing> slowing_;
  std::vector<ScheduledRuns> step_;
  std::deque<Entry> known_;
  std::unordered_map<const fb::Instruction *, Entry *> entryOf_;
};

} // namespace trainc
