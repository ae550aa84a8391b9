// Transfers between memory and disk beside what the CPU computes.
#pragma once

#include "runtime/base/clock.h"
#include "runtime/device/disk_arena.h"

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace trainc {

/// A thread that runs one transfer after the other, in the order in which they were started. One other thread
/// starts and waits. After a failure no transfer runs any more.
class DiskStream {
public:
  /// Numbers transfers from 1 on.
  using Number = uint64_t;

  DiskStream() = default;
  DiskStream(const DiskStream &) = delete;
  DiskStream &operator=(const DiskStream &) = delete;
  /// Ends what is under way first.
  ~DiskStream();

  /// Between `memory` and the disk from `onDisk` on; waits while kRoom others have not ended. `ran`, if it is
  /// not null, is set to when it ran, once it has been waited for.
  Number start(DiskArena &arena, DeviceAddress onDisk, std::span<std::byte> memory, bool toDisk,
               TimeSpan *ran = nullptr);
  /// Returns when that transfer and all before it have ended, and calls `onProgress`, if there is one, now
  /// and then until they have. Fails (kFailed) as the disk does.
  Status wait(Number number, const std::function<void()> &onProgress = {});
  /// Which one failed, once wait() has.
  Number failed() const { return failed_; }

private:
  static constexpr uint64_t kRoom = 1024;

  struct Transfer {
    DiskArena *arena = nullptr;
    DeviceAddress onDisk;
    std::span<std::byte> memory;
    bool toDisk = false;
    TimeSpan *ran = nullptr;

    Status run() const;
  };
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Transfer, kRoom> ring_; ///< by number
  Number started_ = 0, ended_ = 0;   ///< the last ones
  bool stops_ = false;
  Status status_;     ///< of the first that failed
  Number failed_ = 0; ///< that one
  std::thread thread_;
};

} // namespace trainc
