#include "runtime/exec/communication_spans.h"

#include <algorithm>
#include <limits>

namespace trainc {

double secondsCovered(std::vector<TimeSpan> &spans) {
  std::ranges::sort(spans, {}, &TimeSpan::begin);
  double seconds = 0, covered = -std::numeric_limits<double>::infinity();
  for (const TimeSpan &each : spans) {
    if (each.end <= covered)
      continue;
    seconds += each.end - std::max(each.begin, covered);
    covered = each.end;
  }
  return seconds;
}

CommunicationSeconds CommunicationSpans::seconds() {
  const double waited = secondsCovered(waits_), inFlight = secondsCovered(collectives_);
  collectives_.insert(collectives_.end(), waits_.begin(), waits_.end());
  before_.waited += waited;
  before_.inFlight += inFlight;
  before_.exposed += std::max(0.0, waited + inFlight - secondsCovered(collectives_)); // overlap of both
  collectives_.clear();
  waits_.clear();
  return before_;
}

} // namespace trainc
