// How long a rank's collectives were under way.
#pragma once

#include "runtime/comm/communicator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <vector>

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

/// A ring in the order of starts, and how long collectives took. One thread starts, waits and asks for
/// seconds, one other runs. Allocates when made, not when running.
class CollectiveQueue {
public:
  /// With room for so many collectives in flight.
  explicit CollectiveQueue(uint32_t inFlight);

  /// Puts a collective at the end. There is room for it.
  Ticket start(const Collective &collective);
  /// Waits until the collective has ended; whether it was done.
  bool wait(Ticket ticket);
  /// For messages: "all-reduce of 8 f32", of one that failed or is in flight.
  std::string describe(Ticket ticket) const;
  /// Whether a collective has not ended.
  bool anyInFlight() const {
    return ended_.load(std::memory_order_acquire) != started_.load(std::memory_order_relaxed);
  }
  /// Lets nextWithin() return early: there is something else to do.
  void wake() { waiting_.release(); }
  /// Lets nextWithin() return nothing more once it has returned all that was started.
  void stop();
  bool stopped() const {
    return stopped_.load(std::memory_order_acquire) && taken_ == started_.load(std::memory_order_acquire);
  }

  /// The next collective to run; nothing where none was started within the time.
  const Collective *nextWithin(std::chrono::milliseconds time);
  /// What nextWithin() returned is under way from now on.
  void noteUnderWay();
  /// Ends the wait for what nextWithin() returned.
  void finish(bool done);
  CommunicationSeconds seconds() const;

private:
  static constexpr Ticket kNone = ~Ticket{0};

  struct Flight {
    Collective collective;
    double endedAt = 0, underWayAtEnd = 0; ///< the time, and the clock's
  };
  Flight &flight(Ticket ticket) { return ring_[ticket % ring_.size()]; }
  const Flight &flight(Ticket ticket) const { return ring_[ticket % ring_.size()]; }

  std::vector<Flight> ring_;
  std::atomic<Ticket> started_{0};         ///< how many were put into the ring
  Ticket taken_ = 0;                       ///< how many nextWithin() returned
  std::atomic<Ticket> ended_{0};           ///< how many have ended
  std::atomic<Ticket> firstFailed_{kNone}; ///< it and all after it were not done
  std::atomic<bool> stopped_{false};
  std::counting_semaphore<> waiting_{0}; ///< those in the ring that nobody has taken, wakes, and the stop
  TransferClock clock_;
  double underWaySince_ = 0; ///< of what nextWithin() returned last
  double waited_ = 0, exposed_ = 0;
};

} // namespace trainc
