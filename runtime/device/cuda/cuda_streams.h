// One CUDA stream for each stream of the plan, and events between them.
#pragma once

#include "plan/facts/streams.h"
#include "runtime/comm/stream_communicator.h"
#include "runtime/cuda/cuda_handles.h"

#include <array>
#include <functional>
#include <span>
#include <vector>

namespace trainc {

/// Streams by fb::Stream. The compute stream is the main one: host copies and graphs run on it; fork() and
/// join() order the others relative to it.
class CudaStreams {
public:
  static Result<CudaStreams> create();

  CUstream of(fb::Stream stream) const { return streams_[static_cast<size_t>(stream)].get(); }
  CUstream main() const { return of(fb::Stream::Compute); }

  /// Orders later work of other streams after the current work of the main stream.
  Status fork(std::span<const fb::Stream> others) const;
  /// Orders later work of the main stream after the current work of others.
  Status join(std::span<const fb::Stream> others) const;

  /// Creates events up to number `count` - 1; must not be called during capture.
  Status makeEvents(size_t count);
  CUevent event(size_t number) const { return events_[number].get(); }

private:
  CudaStreams() = default;

  std::array<CudaStream, kStreams> streams_;
  std::array<CudaEvent, kStreams> ends_; ///< that of the main stream marks where the others begin
  std::vector<CudaEvent> events_;
};

/// Waits for streams and events while polling the peers for failures.
class CudaWait {
public:
  /// `peers` may be null.
  explicit CudaWait(StreamCommunicator *peers) : peers_(peers) {}

  Status forStream(CUstream stream) const;
  Status forEvent(CUevent event) const;

private:
  Status until(const std::function<CUresult()> &query, const char *what) const;

  StreamCommunicator *peers_;
};

} // namespace trainc
