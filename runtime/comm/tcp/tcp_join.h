// How ranks of several hosts find each other without MPI.
#pragma once

#include "base/descriptor.h"
#include "runtime/comm/tcp/tcp_secret.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

struct TcpPlace {
  uint32_t rank = 0, ranks = 1;
  std::string address;      ///< host of rank 0: name or numeric address
  uint16_t port = 0;        ///< port on which rank 0 listens
  std::string secret;       ///< shared secret of the job
  uint64_t fingerprint = 0; ///< fingerprint of the program the ranks run; must be equal on all ranks
  double waitSeconds = 60;  ///< maximum wait for the other ranks
  /// Called by rank 0 while it waits, with a warning for the user; may be empty.
  std::function<void(const std::string &warning)> warn = {};
};

/// A connection whose peer has proved that it knows the secret.
struct TcpMet {
  Descriptor socket;
  TcpDigest key; ///< unique to this connection
};

/// Connects the ranks: rank 0 gets connections to all others, by rank, with an empty entry for itself; every
/// other rank gets one to rank 0. All ranks call it and wait for each other. Fails with kFailed if a rank
/// does not come in time or declines, with kInvalidInput if two ranks have the same number, or the numbers of
/// ranks or the fingerprints differ. After such a failure, rank 0 waits a few seconds at most for missing
/// ranks.
Result<std::vector<TcpMet>> meetOverTcp(const TcpPlace &place);

/// Tells the other ranks that this one cannot take part; call it instead of meetOverTcp(), which fails on
/// them with kFailed and `reason`. `place` needs no fingerprint. Waits for rank 0, or on rank 0 for all
/// others, for at most `place.waitSeconds`.
void declineOverTcp(const TcpPlace &place, std::string_view reason);

} // namespace trainc
