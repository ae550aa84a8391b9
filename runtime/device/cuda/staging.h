// Pinned staging buffers for copies between host and device.
#pragma once

#include "base/device_address.h"
#include "runtime/cuda/cuda_handles.h"

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace trainc {

/// A ring buffer for copies on one stream. Writes are copied into the ring at once, so that the host can
/// continue; reads are copied out by finish(). Waits for the stream only if the ring is full.
class StagingRing {
public:
  /// `wait` blocks until an event has completed.
  static Result<StagingRing> create(CUstream stream, uint64_t bytes, std::function<Status(CUevent)> wait);

  Status write(CUdeviceptr destination, std::span<const std::byte> source);
  /// `destination` is filled by finish().
  Status read(std::span<std::byte> destination, CUdeviceptr source);
  /// Copies finished reads to their destinations; the stream must be idle.
  void finish();

private:
  struct Piece {
    uint64_t begin, bytes; ///< in the ring, rounded up to the alignment
    CudaEvent done;
    std::span<std::byte> destination; ///< empty for writes
  };

  StagingRing(CUstream stream, PinnedMemory memory, std::function<Status(CUevent)> wait)
      : stream_(stream), memory_(std::move(memory)), wait_(std::move(wait)) {}
  std::optional<uint64_t> room(uint64_t bytes) const;
  Result<std::byte *> reserve(uint64_t bytes, std::span<std::byte> destination);
  void retireFront();

  CUstream stream_;
  PinnedMemory memory_;
  std::function<Status(CUevent)> wait_;
  std::deque<Piece> pieces_;      ///< in flight, in order
  std::vector<CudaEvent> events_; ///< free ones
};

/// Blocking copies on a stream of their own. Thread-safe; the device's context must be current in the calling
/// thread.
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
  std::mutex mutex_; ///< serialises the copies
};

} // namespace trainc
