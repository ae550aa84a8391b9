// Where the ranks of one host wait for each other.
#pragma once

#include "runtime/comm/local/shared_memory.h"
#include "runtime/comm/stall_watch.h"

#include <cstdint>

namespace trainc {

/// One rank's side of the barriers.
class Rendezvous {
public:
  /// `timeoutSeconds`: how long a rank that is waited for may make no progress.
  Rendezvous(const SharedMemory &memory, uint32_t rank, double timeoutSeconds);

  /// Waits until every rank of the meeting has arrived there as often as this one; what they wrote before is
  /// seen after. False when a rank has failed, be it for this: one that makes no progress for too long, or
  /// all that wait for each other for too long, are failed by name.
  bool arrive(const Meeting &meeting);
  /// For a rank that waits for all others elsewhere, to call some times a second, with `begins` the first
  /// time. False as arrive().
  bool watch(bool begins);

private:
  bool sleep(const Meeting &meeting, uint32_t generation);
  bool foundFault(const Meeting &meeting, double seconds);
  bool isMissing(uint32_t peer, const Meeting &meeting) const;
  bool isStalled(uint32_t peer, double seconds);
  bool everyoneWaits(double seconds);

  const SharedMemory &memory_;
  uint32_t rank_;
  double timeout_;
  StallWatch peers_;   ///< each rank by itself
  StallWatch job_;     ///< all ranks as one
  double watched_ = 0; ///< when watch() was last called
};

} // namespace trainc
