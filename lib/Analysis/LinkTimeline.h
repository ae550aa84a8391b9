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
  void start(int64_t number, double seconds) { queue.push_back({number, seconds}); }
  void compute(double seconds);
  /// Returns the seconds until the collective of that number ends; none where it has.
  double wait(int64_t number);
  /// Returns the seconds until all have ended.
  double waitForAll() { return queue.empty() ? 0 : wait(queue.back().number); }

  /// Seconds so far in which a collective was under way.
  double busySeconds() const { return busy; }

private:
  struct Collective {
    int64_t number;
    double left; ///< seconds while the rank waits
  };

  double share, busy = 0;
  std::deque<Collective> queue; ///< those that have not ended
};

} // namespace trainc
