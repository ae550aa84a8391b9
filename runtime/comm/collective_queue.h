// The collectives of one rank between the thread that starts them and the one that runs them.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/comm/transfer_clock.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <semaphore>
#include <string>
#include <vector>

namespace trainc {

/// Slots, the order in which they were started, and how long they took. One thread starts, waits and asks for
/// seconds, one other runs. Allocates when made, not when running.
class CollectiveQueue {
public:
  /// With slots [0, slots), and one more for barriers.
  explicit CollectiveQueue(uint32_t slots);

  uint32_t barrierSlot() const { return static_cast<uint32_t>(slots_.size() - 1); }
  /// Puts a collective at the end. The slot is free or waited for.
  void start(uint32_t slot, const Collective &collective);
  /// Waits until the slot's collective has ended; whether it was done.
  bool wait(uint32_t slot);
  /// For messages: "all-reduce of 8 f32 (slot 4)".
  std::string describe(uint32_t slot) const;
  /// Whether a collective has not ended.
  bool anyInFlight() const;
  /// Lets nextWithin() return kStop once it has returned all that was started.
  void stop();

  static constexpr uint32_t kStop = ~uint32_t{0};
  /// The next slot to run, or kStop; nothing where none was started within the time.
  std::optional<uint32_t> nextWithin(std::chrono::milliseconds time);
  const Collective &collective(uint32_t slot) const { return slots_[slot].collective; }
  /// What nextWithin() returned is under way from now on.
  void noteUnderWay();
  /// Ends the wait for a slot that nextWithin() returned.
  void finish(uint32_t slot, bool done);
  CommunicationSeconds seconds() const;

private:
  enum class State : uint32_t { kDone, kInFlight, kFailed };

  struct Slot {
    Collective collective;
    std::atomic<State> state{State::kDone};
    double endedAt = 0, underWayAtEnd = 0; ///< the time, and the clock's
  };

  void put(uint32_t slot);

  std::vector<Slot> slots_;              ///< the last one is for barriers
  std::vector<uint32_t> order_;          ///< slots in order of start; a ring, its size a power of two
  uint32_t started_ = 0, taken_ = 0;     ///< how many were put into the ring and taken from it
  std::counting_semaphore<> waiting_{0}; ///< those in the ring that nobody has taken
  TransferClock clock_;
  double waited_ = 0, exposed_ = 0;
};

} // namespace trainc
