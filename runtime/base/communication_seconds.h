// What communication costs.
#pragma once

namespace trainc {

/// Of one rank.
struct CommunicationSeconds {
  /// In wait() and barrier(), for collectives and for ranks that come later.
  double waited = 0;
  /// In which a collective was under way: from when all that meet had begun it to its end. Where an engine
  /// does not learn of the first (mpi/), from when this rank had, with the time in which it waits for others.
  double underWay = 0;
  /// Of both: communication that nothing hid.
  double exposed = 0;

  friend CommunicationSeconds operator-(const CommunicationSeconds &a, const CommunicationSeconds &b) {
    return {a.waited - b.waited, a.underWay - b.underWay, a.exposed - b.exposed};
  }
};

} // namespace trainc
