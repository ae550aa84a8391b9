#include "runtime/comm/mpi/mpi_collectives.h"

#include "runtime/plan/dtype.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace trainc {

namespace {

/// Memory for pieces that arrive, of all peers together, where that leaves each its least.
constexpr uint64_t kStagingBytes = uint64_t{32} << 20;
constexpr uint64_t kLeastPiece = uint64_t{16} << 10, kLargestPiece = uint64_t{4} << 20;

/// Bytes of a message: the same on all ranks. Two from each peer are in the staging memory.
uint64_t pieceBytes(uint32_t ranks) {
  const uint64_t each = kStagingBytes / (2 * uint64_t{ranks}) / kCacheLine * kCacheLine;
  return std::clamp(each, kLeastPiece, kLargestPiece);
}

/// Runs begin(round) and end(round) for every round, with the next one begun before one ends; false as soon
/// as one of the ends is.
template <typename Begin, typename End> bool overlapped(uint64_t rounds, Begin begin, End end) {
  for (uint64_t round = 0; round <= rounds; ++round) {
    if (round < rounds)
      begin(round);
    if (round > 0 && !end(round - 1))
      return false;
  }
  return true;
}

} // namespace

MpiCollectives::MpiCollectives(const MpiJob &job, Grid grid, MpiPeers &peers)
    : rank_(job.rank()), grid_(grid), pieceBytes_(pieceBytes(grid.ranks)), exchange_(job, peers),
      treeSum_(grid.ranks), inputs_(grid.ranks),
      staging_(std::make_unique_for_overwrite<std::byte[]>(uint64_t{2} * grid.ranks * pieceBytes_)) {}

bool MpiCollectives::run(const Collective &collective) {
  members_ = grid_.members(collective.group, rank_);
  return exchange_.open(collective, members_) && move(collective) && exchange_.agreed();
}

bool MpiCollectives::move(const Collective &collective) {
  const Range mine = part(collective, place());
  switch (collective.kind) {
  case CollectiveKind::kAllReduce:
    // Only then does what was sent from the destination, where that is the source, change.
    return reduceScatter(collective, collective.destination + mine.begin) &&
           allGather(collective, collective.destination + mine.begin);
  case CollectiveKind::kReduceScatter:
    return reduceScatter(collective, collective.destination);
  case CollectiveKind::kAllGather:
    if (collective.source != collective.destination + mine.begin)
      std::copy_n(collective.source, mine.bytes(), collective.destination + mine.begin);
    return allGather(collective, collective.source);
  case CollectiveKind::kBroadcast:
    return broadcast(collective);
  case CollectiveKind::kBarrier:
    return barrier();
  }
  return false;
}

/// Writes the sum of this rank's part of all sources to `out`.
bool MpiCollectives::reduceScatter(const Collective &collective, std::byte *out) {
  const Range mine = part(collective, place());
  const auto begin = [&](uint64_t round) {
    for (uint32_t peer = 0; peer < members_.count; ++peer) {
      if (peer == place())
        continue;
      const Range theirs = piece(part(collective, peer), round);
      exchange_.receive(round, peer, staging(round, peer), piece(mine, round).bytes());
      exchange_.send(round, peer, collective.source + theirs.begin, theirs.bytes());
    }
  };
  const auto end = [&](uint64_t round) {
    if (!exchange_.finish(round))
      return false;
    sum(collective, round, out);
    return true;
  };
  return overlapped(pieces(collective), begin, end);
}

/// Adds the pieces of a round to what belongs at `out`.
void MpiCollectives::sum(const Collective &collective, uint64_t round, std::byte *out) {
  const Range mine = part(collective, place()), range = piece(mine, round);
  for (uint32_t peer = 0; peer < members_.count; ++peer)
    inputs_[peer] = reinterpret_cast<const float *>(peer == place() ? collective.source + range.begin
                                                                    : staging(round, peer));
  treeSum_.sum(std::span(inputs_).first(members_.count),
               reinterpret_cast<float *>(out + (range.begin - mine.begin)), range.bytes() / sizeof(float));
}

/// Sends this rank's part, which is at `own`, and receives the others'.
bool MpiCollectives::allGather(const Collective &collective, const std::byte *own) {
  const Range mine = part(collective, place());
  const auto begin = [&](uint64_t round) {
    const Range sent = piece(mine, round);
    for (uint32_t peer = 0; peer < members_.count; ++peer) {
      if (peer == place())
        continue;
      const Range theirs = piece(part(collective, peer), round);
      exchange_.receive(round, peer, collective.destination + theirs.begin, theirs.bytes());
      exchange_.send(round, peer, own + (sent.begin - mine.begin), sent.bytes());
    }
  };
  return overlapped(pieces(collective), begin, [&](uint64_t round) { return exchange_.finish(round); });
}

bool MpiCollectives::broadcast(const Collective &collective) {
  const Range whole{0, wholeBytes(collective)};
  const bool isRoot = collective.root == place();
  if (isRoot && collective.source != collective.destination)
    std::copy_n(collective.source, whole.end, collective.destination);
  const auto begin = [&](uint64_t round) {
    const Range sent = piece(whole, round);
    if (!isRoot)
      exchange_.receive(round, collective.root, collective.destination + sent.begin, sent.bytes());
    for (uint32_t peer = 0; isRoot && peer < members_.count; ++peer)
      if (peer != place())
        exchange_.send(round, peer, collective.source + sent.begin, sent.bytes());
  };
  return overlapped((whole.end + pieceBytes_ - 1) / pieceBytes_, begin,
                    [&](uint64_t round) { return exchange_.finish(round); });
}

bool MpiCollectives::barrier() {
  for (uint32_t peer = 0; peer < members_.count; ++peer)
    if (peer != place())
      exchange_.meet(0, peer);
  return exchange_.finish(0);
}

/// What of a range goes in one message; empty after its end.
MpiCollectives::Range MpiCollectives::piece(Range range, uint64_t index) const {
  const uint64_t begin = std::min(range.begin + index * pieceBytes_, range.end);
  return {begin, std::min(begin + pieceBytes_, range.end)};
}

/// Of the largest part, which is the first.
uint64_t MpiCollectives::pieces(const Collective &collective) const {
  return (part(collective, 0).bytes() + pieceBytes_ - 1) / pieceBytes_;
}

std::byte *MpiCollectives::staging(uint64_t round, uint32_t place) {
  return staging_.get() + (round % 2 * grid_.ranks + place) * pieceBytes_;
}

} // namespace trainc
