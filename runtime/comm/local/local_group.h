// A group of ranks on one host.
#pragma once

#include "runtime/comm/communicator.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace trainc {

class SharedMemory;

struct LocalOptions {
  /// Timeout: seconds without progress after which a rank that others wait for counts as dead.
  double timeoutSeconds = 5;
  /// Maximum number of collectives in flight per rank.
  uint32_t inFlight = 64;
};

/// Identity of a rank that a launcher started on its own, among the other ranks of the host.
struct LocalPlace {
  uint32_t rank = 0;
  std::string job;          ///< job name: equal on all ranks, unique among this user's jobs on the host
  std::string launch = {};  ///< launch identifier: equal on all ranks, empty if unknown; ranks with another
                            ///< one, left over from an older job, are rejected
  uint64_t fingerprint = 0; ///< fingerprint of the program the ranks run; must be equal on all ranks
  double waitSeconds = 60;  ///< maximum wait for the other ranks
};

/// Ranks of one host. Created once, before ranks are forked or threads started; then each rank takes its
/// communicator. Communicators may outlive the group.
class LocalGroup {
public:
  /// `bytesPerRank` bounds the memory a rank may allocate, each allocation rounded up to kArenaAlignment;
  /// untouched pages cost nothing. Fails with kInvalidInput if the mesh is invalid, and with kFailed if there
  /// is not enough memory.
  static Result<LocalGroup> create(const Mesh &mesh, uint64_t bytesPerRank, LocalOptions options = {});

  /// Joins a group of processes without a common parent; every rank calls it with the same arguments, and all
  /// wait for each other. Fails on all ranks alike: with kFailed if a rank does not come in time or declines,
  /// with kInvalidInput if two ranks have the same number or the fingerprints differ. A rank of another
  /// launch fails alone (kInvalidInput).
  static Result<LocalGroup> join(const LocalPlace &place, const Mesh &mesh, uint64_t bytesPerRank,
                                 LocalOptions options = {});

  /// Tells the other ranks that this one cannot take part; call it instead of join(). The join() of the
  /// others fails with kFailed and `reason`. `place` needs no fingerprint. Waits for rank 0, or on rank 0 for
  /// all others, for at most `place.waitSeconds`.
  static void decline(const LocalPlace &place, uint32_t ranks, std::string_view reason);

  /// Returns the communicator of `rank`; call it once per rank, in the rank's own process. Fails with kFailed
  /// if the system cannot start another thread.
  Result<std::unique_ptr<Communicator>> communicator(uint32_t rank) const;

  /// Makes the waits of all ranks fail because of `rank`; for a parent that sees the rank die. The first
  /// failure wins.
  void fail(uint32_t rank, std::string_view reason) const;

private:
  LocalGroup(std::shared_ptr<SharedMemory> memory, LocalOptions options);

  std::shared_ptr<SharedMemory> memory_;
  LocalOptions options_;
};

} // namespace trainc
