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
  /// How long a rank that is waited for may make no progress before it counts as dead.
  double timeoutSeconds = 5;
  /// Collectives that a rank may have in flight.
  uint32_t inFlight = 64;
  /// Ranks of a shard group (see grid.h); divides the ranks.
  uint32_t shardRanks = 1;
};

/// A rank that a launcher started by itself, among the others of the host.
struct LocalPlace {
  uint32_t rank = 0;
  std::string job;          ///< the same for all ranks, and for no other job of this user on the host
  std::string launch = {};  ///< the same for all ranks, empty where unknown; those with another one, which an
                            ///< older job has left, are turned away
  uint64_t fingerprint = 0; ///< of what the ranks run, which must be the same
  double waitSeconds = 60;  ///< how long to wait for the others to come
};

/// Made once, before ranks are forked or threads started; then each rank takes its communicator.
/// Communicators may outlive the group.
class LocalGroup {
public:
  /// `bytesPerRank`: what a rank may allocate, each allocation rounded up to kArenaAlignment. Pages that
  /// nobody touches cost nothing. Fails (kInvalidInput) without ranks or where shard groups do not divide
  /// them, (kFailed) when there is no such amount of memory.
  static Result<LocalGroup> create(uint32_t ranks, uint64_t bytesPerRank, LocalOptions options = {});

  /// The group of processes that have no parent in common: every rank calls it, and they wait for each other.
  /// The arguments are those of create(), the same on all ranks. Fails on all of them alike: (kFailed) when
  /// one does not come in time or declines, (kInvalidInput) when two say that they are the same, or one runs
  /// something else. A rank of another launch fails alone (kInvalidInput).
  static Result<LocalGroup> join(const LocalPlace &place, uint32_t ranks, uint64_t bytesPerRank,
                                 LocalOptions options = {});

  /// In place of join(), for a rank that cannot take part: the others' join() fails (kFailed) and says why.
  /// It needs no fingerprint, and waits for rank 0, or on rank 0 for all others, but no longer than `place`
  /// says.
  static void decline(const LocalPlace &place, uint32_t ranks, std::string_view reason);

  /// The communicator of one rank, once per rank, in the process that is the rank. Fails (kFailed) where the
  /// system starts no more threads.
  Result<std::unique_ptr<Communicator>> communicator(uint32_t rank) const;

  /// Ends all ranks' waits because of `rank`; for whoever sees it die. The first failure counts.
  void fail(uint32_t rank, std::string_view reason) const;

private:
  LocalGroup(std::shared_ptr<SharedMemory> memory, LocalOptions options);

  std::shared_ptr<SharedMemory> memory_;
  LocalOptions options_;
};

} // namespace trainc
