// When collectives end that run beside an entry's instructions.
#pragma once

#include <cstdint>
#include <deque>

namespace trainc {

/// Collectives one after the other, in the order of their starts, while the rank computes or waits.
class LinkTimeline {
public:
  /// `shareBesideCompute`: the part of its rate that a collective keeps while the rank computes.
  explicit LinkTimeline(double shareBesideCompute) : share(shareBesideCompute) {}

  /// A collective that takes so many seconds while the rank waits.
  void start(int64_t slot, double seconds) { queue.push_back({slot, seconds}); }
  void compute(double seconds);
  /// Returns the seconds until the slot's collective ends; none where it has.
  double wait(int64_t slot);

  /// Seconds so far in which a collective was under way.
  double busySeconds() const { return busy; }

private:
  struct Collective {
    int64_t slot;
    double left; ///< seconds while the rank waits
  };

  double share, busy = 0;
  std::deque<Collective> queue; ///< those that have not ended
};

} // namespace trainc
