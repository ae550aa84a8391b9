// Asynchronous transfers between memory and disk.
#pragma once

#include "base/clock.h"
#include "runtime/device/disk_arena.h"
#include "runtime/device/program.h"

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace trainc {

/// A thread that runs transfers one after the other, in start order. One other thread calls start() and
/// wait(). After a failure all later transfers are skipped.
class DiskStream {
public:
  /// Sequence number of a transfer, from 1 on.
  using Number = uint64_t;

  DiskStream() = default;
  DiskStream(const DiskStream &) = delete;
  DiskStream &operator=(const DiskStream &) = delete;
  /// Completes the transfers in flight first.
  ~DiskStream();

  /// A transfer and the step that requested it.
  struct Transfer {
    DiskArena *arena = nullptr;
    DeviceAddress onDisk;
    std::span<std::byte> memory;
    bool toDisk = false;
    TimeSpan *ran = nullptr; ///< if set, receives the time span of the transfer, once it was waited for
    StepPlace of = {};       ///< named in the error if the transfer fails

    Status run() const;
  };

  /// Blocks while kRoom transfers are in flight.
  Number start(const Transfer &transfer);
  /// Waits until the transfer `number` and all earlier ones have ended; calls `onProgress`, if set, from time
  /// to time. Fails with kFailed and the step whose transfer failed.
  Status wait(Number number, const std::function<void()> &onProgress = {});
  /// Waits until all transfers started so far have ended. Fails like wait(). Thread-safe.
  Status waitForAll();
  /// Like waitForAll(), but fails only if a transfer to disk failed or was skipped after another failure, so
  /// that the disk may hold outdated bytes.
  Status waitForStores();

private:
  static constexpr uint64_t kRoom = 1024;

  void work();
  void note(const Transfer &ended, const Status &status);
  void waitForEnds(std::unique_lock<std::mutex> &lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Transfer, kRoom> ring_; ///< by number
  Number started_ = 0, ended_ = 0;   ///< numbers of the last transfers that started and ended
  bool stops_ = false;
  Status status_; ///< of the first failed transfer
  Status stored_; ///< ok while all transfers to disk succeeded
  std::thread thread_;
};

} // namespace trainc
