#include "runtime/comm/local/local_collectives.h"

#include "runtime/plan/dtype.h"

#include <algorithm>
#include <cstring>

namespace trainc {

namespace {

/// Bytes moved between two notes of progress.
constexpr uint64_t kPiece = uint64_t{1} << 20;
constexpr uint64_t kCacheLine = 64;

/// What describe() tells, and where the buffer is.
std::string describe(const Posting &posting) {
  const Collective collective{
      .kind = posting.kind, .dtype = posting.dtype, .elements = posting.elements, .root = posting.root};
  return fmt::format("{} at byte {}", trainc::describe(collective), posting.offset);
}

} // namespace

LocalCollectives::LocalCollectives(const SharedMemory &memory, uint32_t rank, double timeoutSeconds)
    : memory_(memory), rank_(rank), rendezvous_(memory, rank, timeoutSeconds), treeSum_(memory.ranks()),
      inputs_(memory.ranks()) {}

bool LocalCollectives::run(const Collective &collective) {
  if (!meet(collective))
    return false;
  if (collective.kind == CollectiveKind::kBarrier)
    return true;
  return move(collective) && rendezvous_.arrive(); // nobody reads our buffer any more
}

/// Waits until every rank's buffer is ready, and makes sure that all mean the same: a rank that runs another
/// plan must not be read past the end of its memory.
bool LocalCollectives::meet(const Collective &collective) {
  offset_ = 0;
  if (collective.elements > 0)
    offset_ = static_cast<uint64_t>(collective.buffer - memory_.memory(rank_));
  // Two by turns: nobody comes to the barrier after the next before all have compared these.
  turn_ ^= 1;
  Posting &mine = memory_.state(rank_).posted[turn_];
  mine = {collective.kind, collective.dtype, collective.root, offset_, collective.elements};
  if (!rendezvous_.arrive())
    return false;
  const Posting &first = memory_.state(0).posted[turn_];
  if (mine == first)
    return true;
  memory_.fail(rank_, fmt::format("its plan differs: it started {} where rank 0 started {}", describe(mine),
                                  describe(first)));
  return false;
}

/// Fills this rank's buffer from those of all; other ranks may be at it still.
bool LocalCollectives::move(const Collective &collective) {
  switch (collective.kind) {
  case CollectiveKind::kAllReduce:
    sum(part(collective, rank_));
    if (!rendezvous_.arrive())
      return false;
    copyParts(collective);
    break;
  case CollectiveKind::kReduceScatter:
    sum(part(collective, rank_));
    break;
  case CollectiveKind::kAllGather:
    copyParts(collective);
    break;
  case CollectiveKind::kBroadcast:
    if (collective.root != rank_)
      copy(collective.root, {0, collective.elements * elementBytes(collective.dtype)});
    break;
  case CollectiveKind::kBarrier:
    break;
  }
  return true;
}

/// A rank's part: equal ones, except that all-reduce, where it is nobody's business who adds what, gives
/// whole cache lines, and the last ranks fewer or none.
LocalCollectives::Range LocalCollectives::part(const Collective &collective, uint32_t rank) const {
  const uint64_t bytes = collective.elements * elementBytes(collective.dtype);
  uint64_t each = (bytes + memory_.ranks() - 1) / memory_.ranks();
  if (collective.kind == CollectiveKind::kAllReduce)
    each = (each + kCacheLine - 1) / kCacheLine * kCacheLine;
  return {std::min(rank * each, bytes), std::min((rank + 1) * each, bytes)};
}

void LocalCollectives::sum(Range range) {
  for (uint64_t begin = range.begin; begin < range.end; begin += kPiece) {
    for (uint32_t peer = 0; peer < memory_.ranks(); ++peer)
      inputs_[peer] = reinterpret_cast<const float *>(buffer(peer) + begin);
    const uint64_t bytes = std::min(kPiece, range.end - begin);
    treeSum_.sum(inputs_, reinterpret_cast<float *>(buffer(rank_) + begin), bytes / sizeof(float));
    noteProgress();
  }
}

void LocalCollectives::copy(uint32_t peer, Range range) {
  for (uint64_t begin = range.begin; begin < range.end; begin += kPiece) {
    std::memcpy(buffer(rank_) + begin, buffer(peer) + begin, std::min(kPiece, range.end - begin));
    noteProgress();
  }
}

/// Copies every other rank's part from its owner; each rank begins with its neighbour, so that not all read
/// from one at once.
void LocalCollectives::copyParts(const Collective &collective) {
  for (uint32_t step = 1; step < memory_.ranks(); ++step) {
    const uint32_t peer = (rank_ + step) % memory_.ranks();
    copy(peer, part(collective, peer));
  }
}

void LocalCollectives::noteProgress() {
  memory_.state(rank_).progress.fetch_add(1, std::memory_order_relaxed);
}

} // namespace trainc
