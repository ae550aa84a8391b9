// What the hosts of one machine's ranks tell each other.
#pragma once

#include "runtime/comm/local/rendezvous.h"
#include "runtime/comm/local/shared_memory.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace trainc {

/// One rank's side, for the thread that drives the communicator: its messages lie beside those of the
/// collectives, at a barrier of their own.
class LocalHosts {
public:
  /// `timeoutSeconds` as for Rendezvous.
  LocalHosts(const SharedMemory &memory, uint32_t rank, double timeoutSeconds)
      : memory_(memory), rank_(rank), rendezvous_(memory, rank, timeoutSeconds) {}

  /// See Communicator::exchange(); false when a rank has failed.
  bool exchange(std::span<const std::byte> own, std::span<std::byte> all);

private:
  const SharedMemory &memory_;
  uint32_t rank_;
  Rendezvous rendezvous_;
  uint64_t turn_ = 0; ///< how often they have met
};

} // namespace trainc
