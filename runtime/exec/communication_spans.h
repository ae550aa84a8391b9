// What communication costs where a device tells when collectives ran.
#pragma once

#include "runtime/base/communication_seconds.h"
#include "runtime/device/device.h"

#include <vector>

namespace trainc {

/// Seconds of `spans` together, where they overlap once; sorts them.
double secondsCovered(std::vector<TimeSpan> &spans);

/// Adds up CommunicationSeconds of spans. A collective counts from when this rank began it, with the time in
/// which it waits for others.
class CommunicationSpans {
public:
  void addCollective(TimeSpan span) { collectives_.push_back(span); }
  void addWait(TimeSpan span) { waits_.push_back(span); }

  /// So far. For moments at which nothing is under way: later spans do not overlap earlier ones.
  CommunicationSeconds seconds();

private:
  std::vector<TimeSpan> collectives_, waits_; ///< since the last such moment
  CommunicationSeconds before_;
};

} // namespace trainc
