// Communication times of a device that reports when collectives ran.
#pragma once

#include "base/communication_seconds.h"
#include "runtime/device/device.h"

#include <vector>

namespace trainc {

/// Length of the union of `spans` in seconds; sorts them.
double secondsCovered(std::vector<TimeSpan> &spans);

/// Computes CommunicationSeconds from spans. A collective counts from the moment this rank began it,
/// including the wait for others.
class CommunicationSpans {
public:
  void addCollective(TimeSpan span) { collectives_.push_back(span); }
  void addWait(TimeSpan span) { waits_.push_back(span); }

  /// Times so far. Call it only when no collective is in flight, so that later spans do not overlap earlier
  /// ones.
  CommunicationSeconds seconds();

private:
  std::vector<TimeSpan> collectives_, waits_; ///< spans since the last call of seconds()
  CommunicationSeconds before_;
};

} // namespace trainc
