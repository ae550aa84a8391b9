#include "runtime/comm/mpi/mpi_collectives.h"

#include "plan/facts/dtype.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace trainc {

namespace {

/// Staging memory for received pieces of all peers, as long as each piece keeps its minimum size.
constexpr uint64_t kStagingBytes = uint64_t{32} << 20;
constexpr uint64_t kMinPieceBytes = uint64_t{16} << 10, kLargestPiece = uint64_t{4} << 20;

/// Bytes of a message, equal on all ranks. The staging memory holds two from each peer.
uint64_t pieceBytes(uint32_t ranks) {
  const uint64_t each = kStagingBytes / (2 * uint64_t{ranks}) / kCacheLine * kCacheLine;
  return std::clamp(each, kMinPieceBytes, kLargestPiece);
}

/// Runs begin(round) and end(round) for every round and begins the next round before it ends the current one.
/// Returns false as soon as an end() does.
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

MpiCollectives::MpiCollectives(const MpiJob &job, const Mesh &mesh, MpiPeers &peers)
    : rank_(job.rank()), mesh_(mesh), pieceBytes_(pieceBytes(job.ranks())), exchange_(job, mesh, peers),
      treeSum_(job.ranks()), inputs_(job.ranks()),
      staging_(std::make_unique_for_overwrite<std::byte[]>(uint64_t{2} * job.ranks() * pieceBytes_)) {}

bool MpiCollectives::run(const Collective &collective) {
  members_ = mesh_.members(collective.axes, rank_);
  return exchange_.open(collective, members_) && move(collective) && exchange_.agreed();
}

bool MpiCollectives::move(const Collective &collective) {
  switch (collective.kind) {
  case MeetingKind::kAllReduce:
    // The gather overwrites destinations that may be sources; the scatter has sent these by then.
    return reduceScatter(collective) && allGather(collective);
  case MeetingKind::kReduceScatter:
    return reduceScatter(collective);
  case MeetingKind::kAllGather:
    keepOwn(collective);
    return allGather(collective);
  case MeetingKind::kBarrier:
  case MeetingKind::kShutdown:
    return barrier();
  }
  return false;
}

/// Sums this rank's share over all ranks' sources.
bool MpiCollectives::reduceScatter(const Collective &collective) {
  const Share mine = share(collective, place());
  const auto begin = [&](uint64_t round) {
    for (uint32_t peer = 0; peer < members_.count; ++peer) {
      if (peer == place())
        continue;
      mine.forEach(window(round), [&](const Stretch &stretch) {
        exchange_.receive(round, peer, staging(round, peer) + stretch.inWindow, stretch.bytes);
      });
      share(collective, peer).forEach(window(round), [&](const Stretch &stretch) {
        exchange_.send(round, peer, (collective.ranges[stretch.range].source + stretch.begin).pointer(),
                       stretch.bytes);
      });
    }
  };
  const auto end = [&](uint64_t round) {
    if (!exchange_.finish(round))
      return false;
    sum(collective, round);
    return true;
  };
  return overlapped(rounds(mine), begin, end);
}

/// Adds the pieces received in a round to this rank's own source.
void MpiCollectives::sum(const Collective &collective, uint64_t round) {
  share(collective, place()).forEach(window(round), [&](const Stretch &stretch) {
    const CollectiveRange &range = collective.ranges[stretch.range];
    for (uint32_t peer = 0; peer < members_.count; ++peer)
      inputs_[peer] = peer == place() ? (range.source + stretch.begin).pointer()
                                      : staging(round, peer) + stretch.inWindow;
    treeSum_.sum(range.dtype, std::span(inputs_).first(members_.count), range.destinationType(),
                 placeOfSums(range, stretch.inPart), stretch.bytes / elementBytes(range.dtype));
  });
}

/// Copies this rank's shards to their offset in the whole tensor, unless they are there already.
void MpiCollectives::keepOwn(const Collective &collective) {
  share(collective, place()).forEach([&](const Stretch &stretch) {
    const CollectiveRange &range = collective.ranges[stretch.range];
    if (range.source != range.destination + stretch.begin)
      std::copy_n(range.source.pointer(), stretch.bytes, (range.destination + stretch.begin).pointer());
  });
}

/// Sends this rank's share, from its destination unless the source is a shard, and receives the shares of the
/// others.
bool MpiCollectives::allGather(const Collective &collective) {
  const bool sourceIsShard = traitsOf(collective.kind).sourceIsShard;
  const Share mine = share(collective, place());
  const auto begin = [&](uint64_t round) {
    for (uint32_t peer = 0; peer < members_.count; ++peer) {
      if (peer == place())
        continue;
      share(collective, peer).forEach(window(round), [&](const Stretch &stretch) {
        exchange_.receive(round, peer,
                          (collective.ranges[stretch.range].destination + stretch.begin).pointer(),
                          stretch.bytes);
      });
      mine.forEach(window(round), [&](const Stretch &stretch) {
        const CollectiveRange &range = collective.ranges[stretch.range];
        exchange_.send(round, peer,
                       ((sourceIsShard ? range.source : range.destination) + stretch.inPart).pointer(),
                       stretch.bytes);
      });
    }
  };
  return overlapped(rounds(mine), begin, [&](uint64_t round) { return exchange_.finish(round); });
}

bool MpiCollectives::barrier() {
  for (uint32_t peer = 0; peer < members_.count; ++peer)
    if (peer != place())
      exchange_.meet(0, peer);
  return exchange_.finish(0);
}

std::byte *MpiCollectives::staging(uint64_t round, uint32_t place) {
  return staging_.get() + (round % 2 * mesh_.ranks() + place) * pieceBytes_;
}

} // namespace trainc
