// Times of steps that run on a GPU.
#pragma once

#include "runtime/device/cuda/cuda_handles.h"
#include "runtime/device/device.h"

#include <vector>

namespace trainc {

/// Events around steps, and around waits for collectives, for an observer.
class StepClock {
public:
  explicit StepClock(StepObserver &observer) : observer_(observer) {}

  /// Before a step's work is put on a stream, and before a wait for a collective is.
  Status begin(const Step &step, CUstream stream) { return mark(step, /*isWait=*/false, stream); }
  Status beginWait(const Step &waitedFor, CUstream stream) {
    return mark(waitedFor, /*isWait=*/true, stream);
  }
  /// Behind it.
  Status end(CUstream stream);

  /// Tells the observer of all, in their order, when they have run.
  Status tell();

private:
  struct Span {
    const Step *step;
    bool isWait;
    CudaEvent begin, end;
  };
  Status mark(const Step &step, bool isWait, CUstream stream);

  StepObserver &observer_;
  std::vector<Span> spans_; ///< those beyond used_ are free
  size_t used_ = 0;
};

} // namespace trainc
