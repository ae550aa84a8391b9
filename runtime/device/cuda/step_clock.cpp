#include "runtime/device/cuda/step_clock.h"

#include "base/clock.h"

namespace trainc {

/// Each range has its own origin, because elapsed times are floats: exact to a microsecond for only some
/// seconds.
Status StepClock::start(CUstream stream) {
  if (origin_.get() == nullptr) {
    TRAINC_ASSIGN_OR_RETURN(origin_, makeCudaEvent(/*isTimed=*/true));
  }
  originSeconds_ = steadySeconds();
  return driver().cuEventRecord(origin_.get(), stream);
}

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

Result<double> StepClock::timeOf(const CudaEvent &event) const {
  float milliseconds = 0;
  TRAINC_RETURN_IF_ERROR(driver().cuEventElapsedTime(&milliseconds, origin_.get(), event.get()));
  return originSeconds_ + double{milliseconds} * 1e-3;
}

Status StepClock::tell() {
  for (size_t i = 0; i < used_; ++i) {
    const Span &span = spans_[i];
    TimeSpan time;
    TRAINC_ASSIGN_OR_RETURN(time.begin, timeOf(span.begin));
    TRAINC_ASSIGN_OR_RETURN(time.end, timeOf(span.end));
    if (span.isWait)
      observer_.onWait(*span.step, time);
    else
      observer_.onStep(*span.step, time);
  }
  used_ = 0;
  return {};
}

} // namespace trainc
