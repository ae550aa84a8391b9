// How ranks of several hosts find each other without MPI.
#pragma once

#include "runtime/base/descriptor.h"
#include "runtime/comm/tcp/tcp_secret.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainc {

struct TcpPlace {
  uint32_t rank = 0, ranks = 1;
  std::string address;      ///< of rank 0's host: a name or a number
  uint16_t port = 0;        ///< at which rank 0 listens
  std::string secret;       ///< the same for all ranks, and for nobody else
  uint64_t fingerprint = 0; ///< of what the ranks run, which must be the same
  double waitSeconds = 60;  ///< how long to wait for the others to come
};

/// The other end has shown that it knows the secret.
struct TcpMet {
  Descriptor socket;
  TcpDigest key; ///< of this connection alone
};

/// Rank 0 gets all others, by rank, with nothing at its own place; another rank gets rank 0. All ranks call
/// it and wait for each other. Fails (kFailed) when one does not come in time, (kInvalidInput) when two say
/// that they are the same, or one runs something else.
Result<std::vector<TcpMet>> meetOverTcp(const TcpPlace &place);

} // namespace trainc
