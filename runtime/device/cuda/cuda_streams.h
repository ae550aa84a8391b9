// A CUDA stream for each stream of plans, and the events between them.
#pragma once

#include "runtime/device/cuda/cuda_handles.h"
#include "runtime/device/cuda/cuda_peers.h"
#include "runtime/schema/plan_generated.h"

#include <array>
#include <functional>
#include <span>
#include <vector>

namespace trainc {

inline constexpr size_t kPlanStreams = static_cast<size_t>(fb::Stream::MAX) + 1;

/// Streams by fb::Stream. That of computation is the main one: copies of the host and graphs go there, and
/// the others begin behind it and end before it goes on.
class CudaStreams {
public:
  static Result<CudaStreams> create();

  CUstream of(fb::Stream stream) const { return streams_[static_cast<size_t>(stream)].get(); }
  CUstream main() const { return of(fb::Stream::Compute); }

  /// Lets other streams begin behind what is on the main one.
  Status fork(std::span<const fb::Stream> others) const;
  /// Lets what comes next on the main one wait for others.
  Status join(std::span<const fb::Stream> others) const;

  /// Makes events with the numbers below `count`, which may not be made while a stream is captured.
  Status makeEvents(size_t count);
  CUevent event(size_t number) const { return events_[number].get(); }

private:
  CudaStreams() = default;

  std::array<CudaStream, kPlanStreams> streams_;
  std::array<CudaEvent, kPlanStreams> ends_; ///< that of the main stream: where the others begin
  std::vector<CudaEvent> events_;
};

/// Waits, and finds out meanwhile whether peers are still there.
class CudaWait {
public:
  explicit CudaWait(CudaPeers peers) : peers_(peers) {}

  Status forStream(CUstream stream) const;
  Status forEvent(CUevent event) const;

private:
  Status until(const std::function<CUresult()> &query, const char *what) const;

  CudaPeers peers_;
};

} // namespace trainc
