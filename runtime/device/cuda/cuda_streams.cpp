#include "runtime/device/cuda/cuda_streams.h"

#include <chrono>
#include <thread>

namespace trainc {

namespace {

/// Collectives before computation, copies before both: they use little of the GPU, and other ranks or steps
/// wait for them. Host kernels use no GPU resources.
constexpr int kPriority[kStreams] = {0, -1, -2, -2, -2, 0};

using Clock = std::chrono::steady_clock;
/// A wait first spins, so that short ones end at once, then polls with sleeps.
constexpr auto kSpin = std::chrono::microseconds(200);
constexpr auto kSleep = std::chrono::microseconds(50);
/// Interval of polling the peers.
constexpr auto kPollEvery = std::chrono::milliseconds(20);

} // namespace

Result<CudaStreams> CudaStreams::create() {
  CudaStreams made;
  for (size_t i = 0; i < kStreams; ++i) {
    TRAINC_ASSIGN_OR_RETURN(made.streams_[i], makeCudaStream(kPriority[i]));
    TRAINC_ASSIGN_OR_RETURN(made.ends_[i], makeCudaEvent(/*isTimed=*/false));
  }
  return made;
}

Status CudaStreams::fork(std::span<const fb::Stream> others) const {
  const CUevent begin = ends_[static_cast<size_t>(fb::Stream::Compute)].get();
  if (others.empty())
    return {};
  TRAINC_RETURN_IF_ERROR(driver().cuEventRecord(begin, main()));
  for (const fb::Stream other : others)
    TRAINC_RETURN_IF_ERROR(driver().cuStreamWaitEvent(of(other), begin, CU_EVENT_WAIT_DEFAULT));
  return {};
}

Status CudaStreams::join(std::span<const fb::Stream> others) const {
  for (const fb::Stream other : others) {
    const CUevent end = ends_[static_cast<size_t>(other)].get();
    TRAINC_RETURN_IF_ERROR(driver().cuEventRecord(end, of(other)));
    TRAINC_RETURN_IF_ERROR(driver().cuStreamWaitEvent(main(), end, CU_EVENT_WAIT_DEFAULT));
  }
  return {};
}

Status CudaStreams::makeEvents(size_t count) {
  while (events_.size() < count) {
    TRAINC_ASSIGN_OR_RETURN(CudaEvent event, makeCudaEvent(/*isTimed=*/false));
    events_.push_back(std::move(event));
  }
  return {};
}

Status CudaWait::forStream(CUstream stream) const {
  if (!peers_)
    return driver().cuStreamSynchronize(stream);
  return until([stream] { return driver().cuStreamQuery.raw(stream); }, "cuStreamQuery");
}

Status CudaWait::forEvent(CUevent event) const {
  return until([event] { return driver().cuEventQuery.raw(event); }, "cuEventQuery");
}

Status CudaWait::until(const std::function<CUresult()> &query, const char *what) const {
  const Clock::time_point begin = Clock::now();
  Clock::time_point polled = begin;
  for (;;) {
    const CUresult code = query();
    if (code != CUDA_ERROR_NOT_READY)
      return CudaVendor::status(what, code);
    const Clock::time_point now = Clock::now();
    if (peers_ && now - polled >= kPollEvery) {
      TRAINC_RETURN_IF_ERROR(peers_->poll());
      polled = now;
    }
    if (now - begin >= kSpin)
      std::this_thread::sleep_for(kSleep);
  }
}

} // namespace trainc
