// Transfers between memory and disk beside what the CPU computes.
#pragma once

#include "runtime/base/clock.h"
#include "runtime/device/disk_arena.h"
#include "runtime/device/program.h"

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

  /// A transfer, and who asked for it.
  struct Transfer {
    DiskArena *arena = nullptr;
    DeviceAddress onDisk;
    std::span<std::byte> memory;
    bool toDisk = false;
    TimeSpan *ran = nullptr; ///< set to when it ran, once it has been waited for; may be null
    StepPlace of = {};       ///< named if it fails

    Status run() const;
  };

  /// Waits while kRoom others have not ended.
  Number start(const Transfer &transfer);
  /// Returns when that transfer and all before it have ended, and calls `onProgress`, if there is one, now
  /// and then until they have. Fails (kFailed) as the disk does, with the place of the step whose transfer
  /// failed.
  Status wait(Number number, const std::function<void()> &onProgress = {});
  /// Returns when all have ended that were started before. Fails as wait() does. For any thread.
  Status waitForAll();
  /// The same, except that it fails only if a transfer to disk did, or was left out after another failure:
  /// what lies there may be older than it should be.
  Status waitForStores();

private:
  static constexpr uint64_t kRoom = 1024;

  void work();
  void note(const Transfer &ended, const Status &status);
  void waitForEnds(std::unique_lock<std::mutex> &lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Transfer, kRoom> ring_; ///< by number
  Number started_ = 0, ended_ = 0;   ///< the last ones
  bool stops_ = false;
  Status status_; ///< of the first that failed
  Status stored_; ///< ok while all to disk were made
  std::thread thread_;
};

} // namespace trainc
