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

  bool isListening() const { return observer_.isListening(); }

  /// Before the steps of a range, when nothing runs on `stream`: the place of the host's clock on the GPU's.
  Status start(CUstream stream);
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
  Result<double> timeOf(const CudaEvent &event) const;

  StepObserver &observer_;
  CudaEvent origin_;
  double originSeconds_ = 0; ///< of the host's clock
  std::vector<Span> spans_;  ///< those beyond used_ are free
  size_t used_ = 0;
};

} // namespace trainc
