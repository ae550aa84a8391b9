#include "runtime/device/cpu/step_times.h"

#include "runtime/device/cpu/cpu_device.h"

#include <algorithm>
#include <utility>

namespace trainc {

StepTimes::StepTimes(CpuDevice &device, StepObserver *observer, size_t steps)
    : device_(device), observer_(observer), beside_(observer ? steps : 0),
      besideBefore_(observer ? steps : 0), threads_(observer ? device.threads() : 0) {}

void StepTimes::begin() {
  isKept_ = observer_ && observer_->isListening();
  if (isKept_)
    device_.watchThreads(threads_);
}

void StepTimes::end(bool done, std::span<const uint32_t> outlasting) {
  if (!isKept_)
    return;
  device_.watchThreads({});
  if (done)
    for (const Told &each : told_) {
      if (each.what == What::RanBeside && std::ranges::binary_search(outlasting, each.number))
        outlasting_.push_back(each);
      else
        tell(each, beside_);
    }
  told_.clear();
  beside_.swap(besideBefore_); // outlasting copies still store their spans there
}

void StepTimes::tellOutlasting() {
  for (const Told &each : outlasting_)
    tell(each, besideBefore_);
  outlasting_.clear();
}

void StepTimes::tell(const Told &told, const std::vector<TimeSpan> &beside) {
  switch (told.what) {
  case What::Ran:
    observer_->onStep(*told.step, told.span);
    break;
  case What::RanBeside:
    observer_->onStep(*told.step, beside[told.number]);
    break;
  case What::Waited:
    observer_->onWait(*told.step, told.span);
    break;
  case What::Thread:
    observer_->onThread(*told.step, told.number, told.span);
    break;
  }
}

double StepTimes::now() const { return isKept_ ? steadySeconds() : 0; }

void StepTimes::noteStep(const Step &step, double begin) {
  if (!isKept_)
    return;
  told_.push_back({&step, What::Ran, 0, {begin, steadySeconds()}});
  for (uint32_t thread = 0; thread < threads_.size(); ++thread)
    if (const TimeSpan span = std::exchange(threads_[thread], {}); span.end > 0)
      told_.push_back({&step, What::Thread, thread, span});
}

void StepTimes::noteWait(const Step &waitedFor, double begin) {
  if (isKept_)
    told_.push_back({&waitedFor, What::Waited, 0, {begin, steadySeconds()}});
}

TimeSpan *StepTimes::beside(const Step &step, uint32_t index) {
  if (!isKept_)
    return nullptr;
  told_.push_back({&step, What::RanBeside, index, {}});
  beside_[index] = {};
  return &beside_[index];
}

} // namespace trainc
