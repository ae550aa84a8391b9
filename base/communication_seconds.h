// Time that a rank spends on communication.
#pragma once

namespace trainc {

/// Communication times of one rank, in seconds.
struct CommunicationSeconds {
  /// Time blocked in wait() and barrier(), including the wait for ranks that arrive later.
  double waited = 0;
  /// Time in which at least one collective was in flight: from the moment all participants had begun it to
  /// its end. An engine that cannot observe the other ranks (mpi/) counts from the moment this rank began,
  /// and so includes the wait for others.
  double inFlight = 0;
  /// Exposed communication: time in which a collective was in flight and this rank was blocked.
  double exposed = 0;

  friend CommunicationSeconds operator-(const CommunicationSeconds &a, const CommunicationSeconds &b) {
    return {a.waited - b.waited, a.inFlight - b.inFlight, a.exposed - b.exposed};
  }
};

} // namespace trainc
