// Groups of ranks, and what their sums must be.
#pragma once

#include "runtime/comm/local/local_group.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <span>
#include <vector>

namespace trainc::test {

/// A timeout that no busy machine reaches: what ends a wait otherwise says something else.
inline constexpr double kNever = 60;

using Floats = std::span<float>;

inline constexpr Collective kAllReduce{.kind = MeetingKind::kAllReduce},
    kReduceScatter{.kind = MeetingKind::kReduceScatter}, kAllGather{.kind = MeetingKind::kAllGather};
inline constexpr fb::Group kShard = fb::Group::Shard, kReplica = fb::Group::Replica;

/// The i-th value of a rank: of either sign and any size between 2^-12 and 2^12, so that sums depend on the
/// order of adding.
float value(uint32_t rank, uint64_t i);

/// The i-th sum of ranks' values over the tree of tree_sum.h, written down once more in another way.
float treeSum(uint32_t ranks, uint64_t i);

/// The first such sums.
std::vector<float> treeSums(uint32_t ranks, uint64_t elements);

/// The i-th element becomes factor (i % 10007): sums of such numbers over ranks are exact.
void fillWithMultiples(Floats floats, uint64_t factor);
/// How many elements are others.
uint64_t countOthers(std::span<const float> floats, uint64_t factor);

/// Whether the floats have the same bits.
inline bool sameBits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

inline CollectiveRange rangeOf(std::span<const float> source, std::span<float> destination) {
  return {.source = DeviceAddress(source.data()),
          .destination = DeviceAddress(destination.data()),
          .elements = std::max(source.size(), destination.size())};
}

/// All ranks of a group, driven by one thread: start() returns at once, so it can start one rank after the
/// other.
class Ranks {
public:
  Ranks(uint32_t ranks, uint64_t bytesPerRank, LocalOptions options = {.timeoutSeconds = kNever});

  const LocalGroup &group() const { return group_; }
  uint32_t size() const { return static_cast<uint32_t>(ranks_.size()); }
  Communicator &operator[](uint32_t rank) { return *ranks_[rank]; }
  void end(uint32_t rank) { ranks_[rank].reset(); }

  /// The same allocation on every rank.
  std::vector<std::span<float>> allocate(uint64_t elements);
  /// allocate(), filled with value().
  std::vector<std::span<float>> allocateValues(uint64_t elements);

  /// One range: source, destination and the number of elements are filled in.
  void start(uint32_t rank, uint32_t slot, Collective collective, std::span<const float> source,
             std::span<float> destination);
  void start(uint32_t rank, uint32_t slot, MeetingKind kind, std::span<const float> source,
             std::span<float> destination) {
    start(rank, slot, {.kind = kind}, source, destination);
  }
  /// As it is.
  void start(uint32_t rank, uint32_t slot, const Collective &collective) {
    tickets_[rank][slot] = ranks_[rank]->start(collective);
  }
  void startAll(uint32_t slot, MeetingKind kind, const std::vector<std::span<float>> &sources,
                const std::vector<std::span<float>> &destinations);
  /// In place, for all kinds but kReduceScatter.
  void start(uint32_t rank, uint32_t slot, MeetingKind kind, std::span<float> buffer);
  void startAll(uint32_t slot, MeetingKind kind, const std::vector<std::span<float>> &buffers);
  /// For what was last started there.
  Status wait(uint32_t rank, uint32_t slot) { return ranks_[rank]->wait(tickets_[rank][slot]); }
  /// Expects success.
  void waitAll(uint32_t slot);

private:
  LocalGroup group_;
  std::vector<std::array<CollectiveRange, 64>> ranges_; ///< by rank and slot, which is a name for wait()
  std::vector<std::array<Ticket, 64>> tickets_;         ///< likewise
  std::vector<std::unique_ptr<Communicator>> ranks_;
};

} // namespace trainc::test
