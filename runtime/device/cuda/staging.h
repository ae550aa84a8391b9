// Pinned memory through which the host's bytes go to the device, and come back.
#pragma once

#include "runtime/base/device_address.h"
#include "runtime/device/cuda/cuda_handles.h"

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace trainc {

/// A ring of pieces on one stream. What is written is copied into it at once, so that the host goes on; what
/// is read comes out of it in finish(). It waits for the stream only where the ring is full.
class StagingRing {
public:
  /// `wait` waits for an event.
  static Result<StagingRing> create(CUstream stream, uint64_t bytes, std::function<Status(CUevent)> wait);

  Status write(CUdeviceptr destination, std::span<const std::byte> source);
  /// `destination` is filled after finish().
  Status read(std::span<std::byte> destination, CUdeviceptr source);
  /// To be called when the stream is idle.
  void finish();

private:
  struct Piece {
    uint64_t begin, bytes; ///< in the ring, up to a border
    CudaEvent done;
    std::span<std::byte> destination; ///< empty for what was written
  };

  StagingRing(CUstream stream, PinnedMemory memory, std::function<Status(CUevent)> wait)
      : stream_(stream), memory_(std::move(memory)), wait_(std::move(wait)) {}
  std::optional<uint64_t> room(uint64_t bytes) const;
  Result<std::byte *> reserve(uint64_t bytes, std::span<std::byte> destination);
  void retireFront();

  CUstream stream_;
  PinnedMemory memory_;
  std::function<Status(CUevent)> wait_;
  std::deque<Piece> pieces_;      ///< in flight, in their order
  std::vector<CudaEvent> events_; ///< free ones
};

/// Copies on a stream of their own, which are done when they return. For any thread, whose context is the
/// device's.
class BesideCopies {
public:
  static Result<std::unique_ptr<BesideCopies>> create();

  Status write(CUdeviceptr destination, std::span<const std::byte> source);
  Status read(std::span<std::byte> destination, CUdeviceptr source);

private:
  BesideCopies(CudaStream stream, PinnedMemory memory)
      : stream_(std::move(stream)), memory_(std::move(memory)) {}

  CudaStream stream_;
  PinnedMemory memory_;
  std::mutex mutex_; ///< one copy at a time
};

} // namespace trainc
