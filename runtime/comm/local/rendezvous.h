// Barriers of the ranks of one host.
#pragma once

#include "runtime/comm/local/shared_memory.h"
#include "runtime/comm/stall_watch.h"

#include <cstdint>

namespace trainc {

/// One rank's side of the barriers.
class Rendezvous {
public:
  /// `timeoutSeconds` bounds the time without progress of a rank that others wait for.
  Rendezvous(const SharedMemory &memory, uint32_t rank, double timeoutSeconds);

  /// Waits until every rank of the meeting has arrived as often as this one; their earlier writes are then
  /// visible. Returns false if a rank has failed. Fails a rank that makes no progress for too long, or all
  /// ranks if they wait for each other for too long.
  bool arrive(const Meeting &meeting);
  /// Checks the other ranks while this one waits for all of them by other means. Call it several times a
  /// second, the first time with `begins`. Returns false like arrive().
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
  StallWatch peers_;   ///< progress of each rank
  StallWatch job_;     ///< progress of all ranks together
  double watched_ = 0; ///< time of the last watch()
};

} // namespace trainc
