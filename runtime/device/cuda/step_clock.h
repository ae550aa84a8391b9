// Time spans of steps on a GPU.
#pragma once

#include "runtime/cuda/cuda_handles.h"
#include "runtime/device/device.h"

#include <vector>

namespace trainc {

/// Timing events around steps and around waits for collectives, for an observer.
class StepClock {
public:
  explicit StepClock(StepObserver &observer) : observer_(observer) {}

  bool isListening() const { return observer_.isListening(); }

  /// Call it before the steps of a range, while `stream` is idle: relates the GPU's clock to the host's.
  Status start(CUstream stream);
  /// Call it before a step's work is enqueued, and before a wait for a collective is.
  Status begin(const Step &step, CUstream stream) { return mark(step, /*isWait=*/false, stream); }
  Status beginWait(const Step &waitedFor, CUstream stream) {
    return mark(waitedFor, /*isWait=*/true, stream);
  }
  /// Call it after the work was enqueued.
  Status end(CUstream stream);

  /// Reports all spans to the observer, in order; all steps must have run.
  Status tell();

private:
  struct Span {
    const Step *step;
    bool isWait;
    CudaEvent begin, end;
  };
  Status mark(const Step &step, bool isWait, CUstream stream);
  Result<double> timeOf(const CudaEvent &event) const;

  StepObserver &observer_;
  CudaEvent origin_;
  double originSeconds_ = 0; ///< of the host's clock
  std::vector<Span> spans_;  ///< spans beyond used_ are free
  size_t used_ = 0;
};

} // namespace trainc
