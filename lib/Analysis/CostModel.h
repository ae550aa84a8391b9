// How long entries take, with collectives beside their instructions.
#pragma once

#include "dialects/Plan/Plan.h"
#include "lib/Analysis/Machine.h"

#include "mlir/IR/BuiltinOps.h"

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

/// What an entry takes where collectives run beside the other instructions, one at a time.
struct EntrySeconds {
  double total = 0;
  double communication = 0; ///< in which a collective is under way, hidden or not
  double exposed = 0;       ///< waits for them
};

/// Kernels are looked up in the entry's module. `training` says how many ranks meet.
EntrySeconds predictSeconds(plan::EntryOp entry, plan::TrainingOp training, const Machine &machine);

/// Bytes that each of `ranks` sends for a collective of a tensor of `bytes` in a ring: (ranks - 1) / ranks of
/// it, twice that for an all-reduce.
int64_t ringBytes(CollectiveKind kind, int64_t bytes, int64_t ranks);

/// That of all ranges of a collective.
int64_t ringBytes(plan::CollectiveOp collective, plan::TrainingOp training);

/// Seconds from when all ranks have begun a collective, of which each sends so many bytes, to its end.
double collectiveSeconds(double bytesSent, const Machine &machine);

} // namespace trainc
