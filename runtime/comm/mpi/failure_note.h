// Why the ranks cannot go on.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace trainc {

/// The first failure that this rank heard of. For any thread.
class FailureNote {
public:
  /// Later ones change nothing; whether this was the first.
  bool write(uint32_t rank, std::string_view reason) {
    const std::scoped_lock lock(mutex_);
    if (isWritten())
      return false;
    rank_ = rank;
    reason_ = reason;
    written_.store(true, std::memory_order_release);
    return true;
  }

  bool isWritten() const { return written_.load(std::memory_order_acquire); }
  /// Once it is written.
  uint32_t rank() const { return rank_; }
  const std::string &reason() const { return reason_; }

private:
  std::mutex mutex_;
  std::atomic<bool> written_{false};
  uint32_t rank_ = 0;
  std::string reason_;
};

} // namespace trainc
