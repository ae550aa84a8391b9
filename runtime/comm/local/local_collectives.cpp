#include "runtime/comm/local/local_collectives.h"

#include "runtime/plan/dtype.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace trainc {

namespace {

/// Bytes moved between two notes of progress.
constexpr uint64_t kPiece = uint64_t{1} << 20;

/// What describe() tells, and where source and destination are.
std::string describe(const Posting &posting) {
  const Collective collective{.kind = posting.kind,
                              .group = posting.group,
                              .dtype = posting.dtype,
                              .elements = posting.elements,
                              .root = posting.root};
  return fmt::format("{} from byte {} to byte {}", trainc::describe(collective), posting.source,
                     posting.destination);
}

} // namespace

LocalCollectives::LocalCollectives(const SharedMemory &memory, uint32_t rank, double timeoutSeconds)
    : memory_(memory), rank_(rank), rendezvous_(memory, rank, timeoutSeconds), treeSum_(memory.ranks()),
      inputs_(memory.ranks()) {}

bool LocalCollectives::run(const Collective &collective) {
  members_ = memory_.grid().members(collective.group, rank_);
  // At the end nobody reads our memory or our posting any more.
  return meet(collective) && move(collective) && rendezvous_.arrive(collective.group);
}

/// Waits until every rank's source is ready, and makes sure that all mean the same: sums and gathers of what
/// a rank with another plan has there would be wrong, and of what it has not be read past the end.
bool LocalCollectives::meet(const Collective &collective) {
  if (memory_.hasFailed())
    return false; // peers may be at the last collective still, with the posting for it
  Posting &mine = memory_.state(rank_).posted;
  mine = {collective.kind, collective.group, collective.dtype, collective.root, 0, 0, collective.elements};
  if (collective.elements > 0) {
    mine.source = offset(collective.source);
    mine.destination = offset(collective.destination);
  }
  if (!rendezvous_.arrive(collective.group))
    return false;
  if (sameAsFirst())
    return true;
  memory_.fail(rank_, fmt::format("its plan differs: it started {} where rank {} started {}", describe(mine),
                                  members_.first, describe(memory_.state(members_.first).posted)));
  return false;
}

uint64_t LocalCollectives::offset(const void *pointer) const {
  return static_cast<uint64_t>(static_cast<const std::byte *>(pointer) - memory_.memory(rank_));
}

/// Whether this rank's posting says what that of the first in the group does. Parts may be where the ranks'
/// parts of a whole are.
bool LocalCollectives::sameAsFirst() const {
  const Posting &mine = memory_.state(rank_).posted, &first = memory_.state(members_.first).posted;
  if (mine.kind != first.kind || mine.dtype != first.dtype || mine.root != first.root ||
      mine.elements != first.elements)
    return false;
  const uint64_t shift = place() * (mine.elements / members_.count * elementBytes(mine.dtype));
  const auto sameOrShifted = [shift](uint64_t a, uint64_t b) { return a == b || a == b + shift; };
  switch (mine.kind) {
  case CollectiveKind::kAllReduce:
    return mine.source == first.source && mine.destination == first.destination;
  case CollectiveKind::kReduceScatter:
    return mine.source == first.source && sameOrShifted(mine.destination, first.destination);
  case CollectiveKind::kAllGather:
    return sameOrShifted(mine.source, first.source) && mine.destination == first.destination;
  case CollectiveKind::kBroadcast:
    return mine.destination == first.destination;
  case CollectiveKind::kBarrier:
    return true;
  }
  return false;
}

/// Fills this rank's destination from the sources of all; other ranks may be at it still.
bool LocalCollectives::move(const Collective &collective) {
  const Range mine = part(collective, place());
  switch (collective.kind) {
  case CollectiveKind::kAllReduce:
    sum(mine, collective.destination + mine.begin);
    if (!rendezvous_.arrive(collective.group))
      return false;
    gatherSums(collective);
    break;
  case CollectiveKind::kReduceScatter:
    sum(mine, collective.destination);
    break;
  case CollectiveKind::kAllGather:
    gatherSources(collective);
    break;
  case CollectiveKind::kBroadcast:
    copy(collective.destination, source(collective.root), wholeBytes(collective));
    break;
  case CollectiveKind::kBarrier:
    break;
  }
  return true;
}

/// Writes the sum of a range of all sources to `out`.
void LocalCollectives::sum(Range range, std::byte *out) {
  for (uint64_t begin = range.begin; begin < range.end; begin += kPiece) {
    for (uint32_t peer = 0; peer < members_.count; ++peer)
      inputs_[peer] = reinterpret_cast<const float *>(source(peer) + begin);
    const uint64_t bytes = std::min(kPiece, range.end - begin);
    treeSum_.sum(std::span(inputs_).first(members_.count),
                 reinterpret_cast<float *>(out + (begin - range.begin)), bytes / sizeof(float));
    noteProgress();
  }
}

/// Copies unless it is there already.
void LocalCollectives::copy(std::byte *to, const std::byte *from, uint64_t bytes) {
  if (to == from)
    return;
  for (uint64_t begin = 0; begin < bytes; begin += kPiece) {
    std::memcpy(to + begin, from + begin, std::min(kPiece, bytes - begin));
    noteProgress();
  }
}

/// Copies every other place's sums; each rank begins with its neighbour, so that not all read from one at
/// once.
void LocalCollectives::gatherSums(const Collective &collective) {
  for (uint32_t step = 1; step < members_.count; ++step) {
    const uint32_t peer = (place() + step) % members_.count;
    const Range theirs = part(collective, peer);
    copy(collective.destination + theirs.begin, destination(peer) + theirs.begin, theirs.end - theirs.begin);
  }
}

/// Copies every rank's source, its own last.
void LocalCollectives::gatherSources(const Collective &collective) {
  for (uint32_t step = 1; step <= members_.count; ++step) {
    const uint32_t peer = (place() + step) % members_.count;
    const Range theirs = part(collective, peer);
    copy(collective.destination + theirs.begin, source(peer), theirs.end - theirs.begin);
  }
}

const std::byte *LocalCollectives::source(uint32_t place) const {
  const uint32_t rank = members_.rankAt(place);
  return memory_.memory(rank) + memory_.state(rank).posted.source;
}

const std::byte *LocalCollectives::destination(uint32_t place) const {
  const uint32_t rank = members_.rankAt(place);
  return memory_.memory(rank) + memory_.state(rank).posted.destination;
}

void LocalCollectives::noteProgress() {
  memory_.state(rank_).progress.fetch_add(1, std::memory_order_relaxed);
}

} // namespace trainc
