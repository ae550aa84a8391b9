// How long a rank's collectives were under way.
#pragma once

#include <algorithm>
#include <mutex>
#include <optional>

namespace trainc {

/// Adds up the times in which a collective was under way, of which there is one at a time. For any thread.
class TransferClock {
public:
  /// A collective is under way from now on; `now` as all times in seconds.
  void begin(double now) {
    const std::lock_guard lock(mutex_);
    since_ = now;
  }

  /// It no longer is. Returns the sum up to now.
  double end(double now) {
    const std::lock_guard lock(mutex_);
    total_ = sumAt(now);
    since_.reset();
    return total_;
  }

  /// The sum at a time after the last begin() or end().
  double at(double now) const {
    const std::lock_guard lock(mutex_);
    return sumAt(now);
  }

private:
  double sumAt(double now) const { return total_ + (since_ ? std::max(0.0, now - *since_) : 0.0); }

  mutable std::mutex mutex_;
  double total_ = 0;
  std::optional<double> since_;
};

} // namespace trainc
