// Queue of a rank's collectives, and the time they were in flight.
#pragma once

#include "runtime/comm/communicator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <semaphore>
#include <vector>

namespace trainc {

/// Sums the time in which a collective was in flight; at most one is at a time. Thread-safe.
class TransferClock {
public:
  /// A collective is in flight from `now` on. All times are in seconds.
  void begin(double now) {
    const std::lock_guard lock(mutex_);
    since_ = now;
  }

  /// The collective has ended. Returns the sum up to `now`.
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

/// A ring buffer of collectives in start order, with timing. One thread calls start(), wait() and seconds();
/// one other thread runs the collectives. Allocates only on construction.
class CollectiveQueue {
public:
  /// Holds up to `inFlight` collectives.
  explicit CollectiveQueue(uint32_t inFlight);

  /// Appends a collective. The ring must not be full.
  Ticket start(const Collective &collective);
  /// Blocks until the collective has ended; returns whether it succeeded.
  bool wait(Ticket ticket);
  /// A collective that failed or is in flight.
  const Collective &at(Ticket ticket) const { return flight(ticket).collective; }
  /// Whether any collective has not ended.
  bool anyInFlight() const {
    return ended_.load(std::memory_order_acquire) != started_.load(std::memory_order_relaxed);
  }
  /// Makes nextWithin() return early, for other work.
  void wake() { waiting_.release(); }
  /// Makes nextWithin() return null once all started collectives were returned.
  void stop();
  bool stopped() const {
    return stopped_.load(std::memory_order_acquire) && taken_ == started_.load(std::memory_order_acquire);
  }

  /// The next collective to run; null if none was started within `time`.
  const Collective *nextWithin(std::chrono::milliseconds time);
  /// Marks the collective that nextWithin() returned as in flight.
  void noteInFlight();
  /// Ends the collective that nextWithin() returned, and wakes its waiter.
  void finish(bool done);
  CommunicationSeconds seconds() const;

private:
  static constexpr Ticket kNone = ~Ticket{0};

  struct Flight {
    Collective collective;
    double endedAt = 0, inFlightAtEnd = 0; ///< time of the end, and the value of the clock at that time
  };
  Flight &flight(Ticket ticket) { return ring_[ticket % ring_.size()]; }
  const Flight &flight(Ticket ticket) const { return ring_[ticket % ring_.size()]; }

  std::vector<Flight> ring_;
  std::atomic<Ticket> started_{0};         ///< number of collectives put into the ring
  Ticket taken_ = 0;                       ///< number that nextWithin() returned
  std::atomic<Ticket> ended_{0};           ///< number that have ended
  std::atomic<Ticket> firstFailed_{kNone}; ///< the first one that failed; all later ones fail too
  std::atomic<bool> stopped_{false};
  std::counting_semaphore<> waiting_{0}; ///< untaken collectives, wakes, and the stop
  TransferClock clock_;
  double inFlightSince_ = 0; ///< begin of the one that nextWithin() returned last
  double waited_ = 0, exposed_ = 0;
};

} // namespace trainc
