// When steps of an entry ran on the CPU.
#pragma once

#include "runtime/device/device.h"

#include <vector>

namespace trainc {

class CpuDevice;

/// Keeps times while steps run, and tells an observer of them when all are done: of a step that runs beside
/// the host nobody knows before when it ran.
class StepTimes {
public:
  /// Of an entry with so many steps. `observer` may be null.
  StepTimes(CpuDevice &device, StepObserver *observer, size_t steps);

  /// Steps are about to run. Nothing below is kept unless the observer listens now.
  void begin();
  /// They are done, and the observer is told, except of `outlasting` ones; or they are not (`done`), and it
  /// is not.
  void end(bool done, std::span<const uint32_t> outlasting = {});
  /// Those of the last run are done, too, and the observer is told of them.
  void tellOutlasting();

  /// The time; 0 where nobody listens.
  double now() const;
  /// The step has run since `begin`, on the device's threads.
  void noteStep(const Step &step, double begin);
  /// Somebody has waited for it since `begin`.
  void noteWait(const Step &waitedFor, double begin);
  /// The step is about to start, and runs beside the host: where to set when it ran; null where nobody
  /// listens. `index` is its own in the entry, which runs it once.
  TimeSpan *beside(const Step &step, uint32_t index);

private:
  enum class What : uint8_t { Ran, RanBeside, Waited, Thread };
  struct Told {
    const Step *step;
    What what;
    uint32_t number; ///< of the step where it ran beside, or of the thread
    TimeSpan span;   ///< of what did not run beside
  };

  void tell(const Told &told, const std::vector<TimeSpan> &beside);

  CpuDevice &device_;
  StepObserver *observer_;
  bool isKept_ = false;
  std::vector<Told> told_;             ///< in the order of steps
  std::vector<TimeSpan> beside_;       ///< by step
  std::vector<Told> outlasting_;       ///< what of the run before was not told
  std::vector<TimeSpan> besideBefore_; ///< beside_ of that run
  std::vector<TimeSpan> threads_;
};

} // namespace trainc
