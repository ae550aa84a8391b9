// Time spans of the steps of an entry on the CPU.
#pragma once

#include "runtime/device/device.h"

#include <vector>

namespace trainc {

class CpuDevice;

/// Records time spans while steps run. Reports them to an observer when all steps are done, because the span
/// of an asynchronous step is known only then.
class StepTimes {
public:
  /// For an entry with `steps` steps. `observer` may be null.
  StepTimes(CpuDevice &device, StepObserver *observer, size_t steps);

  /// Begins a run. Nothing is recorded unless the observer listens now.
  void begin();
  /// Ends a run. If it succeeded (`done`), reports all steps to the observer except the `outlasting` ones.
  void end(bool done, std::span<const uint32_t> outlasting = {});
  /// Reports the outlasting steps of the previous run, which have ended.
  void tellOutlasting();

  /// The current time; 0 if nobody listens.
  double now() const;
  /// Records that the step ran on the device's threads from `begin` until now.
  void noteStep(const Step &step, double begin);
  /// Records a wait for the step from `begin` until now.
  void noteWait(const Step &waitedFor, double begin);
  /// Returns where an asynchronous step, about to start, must store its span; null if nobody listens. `index`
  /// is the step's index in the entry; an entry runs an asynchronous step once.
  TimeSpan *beside(const Step &step, uint32_t index);

private:
  enum class What : uint8_t { Ran, RanBeside, Waited, Thread };
  struct Told {
    const Step *step;
    What what;
    uint32_t number; ///< step number if asynchronous, or thread number
    TimeSpan span;   ///< span of a synchronous step
  };

  void tell(const Told &told, const std::vector<TimeSpan> &beside);

  CpuDevice &device_;
  StepObserver *observer_;
  bool isKept_ = false;
  std::vector<Told> told_;             ///< in step order
  std::vector<TimeSpan> beside_;       ///< by step: spans of asynchronous steps
  std::vector<Told> outlasting_;       ///< steps of the previous run that were not reported yet
  std::vector<TimeSpan> besideBefore_; ///< `beside_` of the previous run
  std::vector<TimeSpan> threads_;
};

} // namespace trainc
