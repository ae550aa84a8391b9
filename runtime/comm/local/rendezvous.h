// Where the ranks of one host wait for each other.
#pragma once

#include "runtime/comm/local/shared_memory.h"
#include "runtime/comm/local/stall_watch.h"

#include <cstdint>

namespace trainc {

/// One rank's side of the group's barriers.
class Rendezvous {
public:
  /// `timeoutSeconds`: how long a rank that is waited for may make no progress.
  Rendezvous(const SharedMemory &memory, uint32_t rank, double timeoutSeconds);

  /// Waits until every rank has arrived as often as this one; what they wrote before is seen after. False
  /// when the group has failed, be it for this: a rank that makes no progress for too long fails it, by name.
  bool arrive();

private:
  bool sleep(uint32_t generation);
  void failFor(uint32_t missing);

  const SharedMemory &memory_;
  uint32_t rank_;
  double timeout_;
  StallWatch watch_;
};

} // namespace trainc
