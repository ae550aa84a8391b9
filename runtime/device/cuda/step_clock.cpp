#include "runtime/device/cuda/step_clock.h"

namespace trainc {

Status StepClock::mark(const Step &step, bool isWait, CUstream stream) {
  if (used_ == spans_.size()) {
    TRAINC_ASSIGN_OR_RETURN(CudaEvent begin, makeCudaEvent(/*isTimed=*/true));
    TRAINC_ASSIGN_OR_RETURN(CudaEvent end, makeCudaEvent(/*isTimed=*/true));
    spans_.push_back({nullptr, false, std::move(begin), std::move(end)});
  }
  Span &span = spans_[used_++];
  span.step = &step;
  span.isWait = isWait;
  return driver().cuEventRecord(span.begin.get(), stream);
}

Status StepClock::end(CUstream stream) { return driver().cuEventRecord(spans_[used_ - 1].end.get(), stream); }

Status StepClock::tell() {
  for (size_t i = 0; i < used_; ++i) {
    const Span &span = spans_[i];
    float milliseconds = 0;
    TRAINC_RETURN_IF_ERROR(driver().cuEventElapsedTime(&milliseconds, span.begin.get(), span.end.get()));
    const double seconds = double{milliseconds} * 1e-3;
    if (span.isWait)
      observer_.onWait(*span.step, seconds);
    else
      observer_.onStep(*span.step, seconds);
  }
  used_ = 0;
  return {};
}

} // namespace trainc
