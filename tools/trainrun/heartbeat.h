// Telling the other ranks that this one is at work.
#pragma once

#include "runtime/base/thread.h"
#include "runtime/comm/communicator.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace trainc {

/// While this lives, other ranks wait for this one however long it takes: for work whose time differs from
/// rank to rank, as reading files does. A process that is stopped or has ended counts as dead all the same.
class Heartbeat {
public:
  /// `communicator` may be null: there are no other ranks.
  explicit Heartbeat(Communicator *communicator) {
    if (communicator)
      thread_ = tryStartThread([this, communicator] { beat(*communicator); });
  }
  ~Heartbeat() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable())
      thread_.join();
  }
  Heartbeat(const Heartbeat &) = delete;
  Heartbeat &operator=(const Heartbeat &) = delete;

private:
  void beat(Communicator &communicator) {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::milliseconds(500), [this] { return ended_; }))
      communicator.noteProgress();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

} // namespace trainc
