#include "runtime/comm/local/local_collectives.h"

#include "plan/facts/dtype.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <span>

namespace trainc {

namespace {

/// Bytes moved between two calls of noteProgress().
constexpr uint64_t kPiece = uint64_t{1} << 20;

/// Description of one range of a posting, with the offsets of its source and destination.
std::string describe(const Posting &posting, size_t range, const Mesh &mesh) {
  std::string text = trainc::describe(posting.fingerprint, mesh);
  if (range >= posting.fingerprint.ranges)
    return text;
  return fmt::format("{}{} from byte {} to byte {}", text,
                     posting.fingerprint.ranges > 1 ? fmt::format(", range {}", range) : "",
                     posting.ranges[range].source, posting.ranges[range].destination);
}

} // namespace

LocalCollectives::LocalCollectives(const SharedMemory &memory, uint32_t rank, double timeoutSeconds)
    : memory_(memory), rank_(rank), rendezvous_(memory, rank, timeoutSeconds), treeSum_(memory.ranks()),
      inputs_(memory.ranks()) {}

/// Waits until every rank's sources are ready, and checks that all ranks started the same collective: reading
/// the memory of a rank with another plan would give wrong results or run past its end.
bool LocalCollectives::meet(const Collective &collective) {
  meeting_ = memory_.meeting(collective.axes, rank_);
  if (memory_.hasFailed())
    return false; // peers may still read the posting of the last collective
  post(collective);
  if (!rendezvous_.arrive(meeting_))
    return false;
  const std::optional<size_t> range = firstDifference(collective);
  if (!range)
    return true;
  memory_.fail(rank_, fmt::format("its plan differs: it started {} where rank {} started {}",
                                  describe(posted(place()), *range, memory_.mesh()), meeting_.members.first,
                                  describe(posted(0), *range, memory_.mesh())));
  return false;
}

/// Transfers the data; after the final barrier no peer reads this rank's memory or posting any more.
bool LocalCollectives::complete(const Collective &collective) {
  return move(collective) && rendezvous_.arrive(meeting_);
}

void LocalCollectives::post(const Collective &collective) {
  assert(collective.ranges.size() <= kMaxRanges);
  Posting &mine = memory_.state(rank_).posted;
  mine.fingerprint = fingerprintOf(collective);
  for (size_t i = 0; i < collective.ranges.size(); ++i) {
    const CollectiveRange &range = collective.ranges[i];
    mine.ranges[i] = range.elements > 0 ? Posting::Range{offset(range.source), offset(range.destination)}
                                        : Posting::Range{};
  }
}

uint64_t LocalCollectives::offset(DeviceAddress address) const {
  return static_cast<uint64_t>(address.pointer() - memory_.memory(rank_));
}

/// Index of the first range in which this rank's posting differs from that of the group's first rank.
std::optional<size_t> LocalCollectives::firstDifference(const Collective &collective) const {
  if (posted(place()).fingerprint != posted(0).fingerprint)
    return 0;
  for (size_t i = 0; i < collective.ranges.size(); ++i)
    if (!sameAsFirst(collective, i))
      return i;
  return std::nullopt;
}

/// Whether a range has the same offsets on both ranks. Shards may differ by the offset of the shard in the
/// whole tensor.
bool LocalCollectives::sameAsFirst(const Collective &collective, size_t range) const {
  const Posting::Range &mine = posted(place()).ranges[range], &first = posted(0).ranges[range];
  const bool sameSource = mine.source == first.source,
             sameDestination = mine.destination == first.destination;
  const CollectiveRange &each = collective.ranges[range];
  const auto isPart = [&, this](uint64_t a, uint64_t b, fb::DType dtype) {
    return a == b + place() * (each.elements / meeting_.members.count * elementBytes(dtype));
  };
  switch (collective.kind) {
  case MeetingKind::kAllReduce:
    return sameSource && sameDestination;
  case MeetingKind::kReduceScatter:
    return sameSource &&
           (sameDestination || isPart(mine.destination, first.destination, each.destinationType()));
  case MeetingKind::kAllGather:
    return (sameSource || isPart(mine.source, first.source, each.dtype)) && sameDestination;
  case MeetingKind::kBarrier:
  case MeetingKind::kShutdown:
    return true;
  }
  return false;
}

/// Fills this rank's destinations from the sources of all ranks. Other ranks may still be doing the same.
bool LocalCollectives::move(const Collective &collective) {
  switch (collective.kind) {
  case MeetingKind::kAllReduce:
    sumShare(collective);
    if (!rendezvous_.arrive(meeting_))
      return false;
    gatherSums(collective);
    break;
  case MeetingKind::kReduceScatter:
    sumShare(collective);
    break;
  case MeetingKind::kAllGather:
    gatherSources(collective);
    break;
  case MeetingKind::kBarrier:
  case MeetingKind::kShutdown:
    break;
  }
  return true;
}

/// Sums this rank's share over all ranks' sources.
void LocalCollectives::sumShare(const Collective &collective) {
  share(collective, place()).forEach([&](const Stretch &stretch) {
    sum(stretch, collective.ranges[stretch.range]);
  });
}

void LocalCollectives::sum(const Stretch &stretch, const CollectiveRange &range) {
  for (uint64_t done = 0; done < stretch.bytes; done += kPiece) {
    const uint64_t bytes = std::min(kPiece, stretch.bytes - done);
    for (uint32_t peer = 0; peer < meeting_.members.count; ++peer) {
      inputs_[peer] = source(peer, stretch.range) + stretch.begin + done;
      noteTaken(peer, bytes);
    }
    treeSum_.sum(range.dtype, std::span(inputs_).first(meeting_.members.count), range.destinationType(),
                 placeOfSums(range, stretch.inPart + done), bytes / elementBytes(range.dtype));
    noteProgress();
  }
}

/// Copies from the memory of the rank at `place`, unless source and destination are the same.
void LocalCollectives::copy(std::byte *to, uint32_t place, const std::byte *from, uint64_t bytes) {
  if (to == from)
    return;
  for (uint64_t begin = 0; begin < bytes; begin += kPiece) {
    const uint64_t piece = std::min(kPiece, bytes - begin);
    std::memcpy(to + begin, from + begin, piece);
    noteTaken(place, piece);
    noteProgress();
  }
}

/// Copies the sums of all other places. Each rank begins with its neighbour, to spread the reads.
void LocalCollectives::gatherSums(const Collective &collective) {
  for (uint32_t step = 1; step < meeting_.members.count; ++step) {
    const uint32_t peer = (place() + step) % meeting_.members.count;
    share(collective, peer).forEach([&](const Stretch &stretch) {
      copy((collective.ranges[stretch.range].destination + stretch.begin).pointer(), peer,
           destination(peer, stretch.range) + stretch.begin, stretch.bytes);
    });
  }
}

/// Copies every rank's sources, its own last.
void LocalCollectives::gatherSources(const Collective &collective) {
  for (uint32_t step = 1; step <= meeting_.members.count; ++step) {
    const uint32_t peer = (place() + step) % meeting_.members.count;
    share(collective, peer).forEach([&](const Stretch &stretch) {
      copy((collective.ranges[stretch.range].destination + stretch.begin).pointer(), peer,
           source(peer, stretch.range), stretch.bytes);
    });
  }
}

const std::byte *LocalCollectives::source(uint32_t place, uint32_t range) const {
  return memory_.memory(meeting_.members.rankAt(place)) + posted(place).ranges[range].source;
}

const std::byte *LocalCollectives::destination(uint32_t place, uint32_t range) const {
  return memory_.memory(meeting_.members.rankAt(place)) + posted(place).ranges[range].destination;
}

void LocalCollectives::noteTaken(uint32_t from, uint64_t bytes) {
  if (from != place())
    taken_.fetch_add(bytes, std::memory_order_relaxed);
}

void LocalCollectives::noteProgress() {
  memory_.state(rank_).progress.fetch_add(1, std::memory_order_relaxed);
}

} // namespace trainc
