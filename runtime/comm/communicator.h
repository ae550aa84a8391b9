// What the executor needs of its peers. Implementations: local/ (ranks of one host), mpi/.
#pragma once

#include "runtime/base/clock.h"
#include "runtime/base/communication_seconds.h"
#include "runtime/base/device_address.h"
#include "runtime/base/status.h"
#include "runtime/schema/plan_generated.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace trainc {

/// What ranks do when they meet: the collectives of plans (fb::CollectiveKind), and what moves nothing.
enum class MeetingKind : uint8_t {
  kAllReduce,     ///< every rank gets the sum of all sources
  kReduceScatter, ///< the rank at place p gets the p-th part of the sum of all sources
  kAllGather,     ///< every rank gets all sources, each a part, in the order of places
  kBarrier,       ///< moves nothing
  kFarewell,      ///< a barrier after which the rank starts nothing more
};

/// A sum that a kernel of the plan's makes, of what ranks have sent each other (fb::Range).
struct KernelSum {
  uint32_t kernel;         ///< in the plan
  DeviceAddress workspace; ///< for what others send
  uint64_t workspaceBytes;
};

/// One tensor that a collective moves. Source and destination lie in allocated memory, at the same place in
/// it on every rank; what is only a rank's part of the tensor may instead lie at the rank's place of it. They
/// are apart, but for the source that is the destination (kAllReduce) or this rank's part of it
/// (kAllGather).
struct CollectiveRange {
  DeviceAddress source = {};      ///< the whole tensor, a part for kAllGather
  DeviceAddress destination = {}; ///< the whole tensor, a part for kReduceScatter
  /// Of the whole tensor. For kReduceScatter and kAllGather a multiple of the ranks that meet: the p-th of as
  /// many equal parts belongs to place p.
  uint64_t elements = 0;
  /// Sums (kAllReduce, kReduceScatter) are of F32, BF16 or F16; others move any type.
  fb::DType dtype = fb::DType::F32;
  /// Of kReduceScatter of BF16 or F16 alone: the destination is of F32, and takes the sums as they are made.
  /// Ranks send each other `dtype` all the same.
  bool widens = false;
  /// Of a sum on a GPU that NCCL does not make.
  std::optional<KernelSum> sum = std::nullopt;

  fb::DType destinationType() const { return widens ? fb::DType::F32 : dtype; }
};

/// One collective operation, the same on all ranks that meet in it; `group` says which (see grid.h). Each
/// range gets the bits that it would get alone; no range's destination shares bytes with another range.
struct Collective {
  MeetingKind kind = MeetingKind::kBarrier;
  fb::Group group = fb::Group::All;
  /// At most kMaximumRanges, none for kBarrier and kFarewell; they stay as they are until the wait is over,
  /// or where nobody waits, until the communicator's end.
  std::span<const CollectiveRange> ranges = {};
  /// Set to when it was under way, once it has been waited for; null, or as it was where the communicator
  /// tells no seconds(): nobody learns.
  TimeSpan *ran = nullptr;
};

/// "all-reduce", "reduce-scatter", ...
const char *collectiveName(MeetingKind kind);

/// For messages: "all-reduce of 1024 f32", "all-gather of 8 bf16 over the shard group", "reduce-scatter of
/// 4096 f32 in 3 ranges", "barrier".
std::string describe(const Collective &collective);

/// Which collective: how many were started before.
using Ticket = uint64_t;

/// One rank of a group. Collectives run in the order in which they are started, beside the caller; all ranks
/// that meet start the same ones in the same order, whatever other ranks are at. Sums are over the tree of
/// tree_sum.h, by places, so an element's bits depend on the ranks' values alone; where shard groups are of
/// 2^k ranks, the sum over replica groups of f32 sums over shard groups has the bits of the sum over all.
/// Buffers come from a verified plan: start() checks nothing. Not thread-safe, noteProgress() and
/// fail() apart: one thread drives a communicator.
class Communicator {
public:
  /// While one lives, this rank waits for, or works at, what is its own: its disk, a reader of its output.
  /// However long that takes, peers wait; the engine's thread tells them that the rank lives, so one that is
  /// stopped or has ended counts as dead all the same. They may nest.
  class [[nodiscard]] OwnTime {
  public:
    /// `communicator` may be null: there are no peers.
    explicit OwnTime(Communicator *communicator)
        : communicator_(communicator ? &communicator->hosts() : nullptr) {
      if (communicator_)
        communicator_->ownTimes_.fetch_add(1, std::memory_order_relaxed);
    }
    ~OwnTime() {
      if (communicator_)
        communicator_->ownTimes_.fetch_sub(1, std::memory_order_relaxed);
    }
    OwnTime(const OwnTime &) = delete;
    OwnTime &operator=(const OwnTime &) = delete;

  private:
    Communicator *communicator_;
  };

  virtual ~Communicator() = default;

  virtual uint32_t rank() const = 0;
  virtual uint32_t ranks() const = 0;

  /// Allocates `bytes` of zeroed memory for an arena of a device, from a multiple of kArenaAlignment on, that
  /// lives as long as the communicator: memory of the host, unless the communicator is made for a device that
  /// has its own.
  /// Every rank allocates the same sizes in the same order; collectives work on such memory only, which peers
  /// may read in place. Fails (kFailed), naming `name`, when there is no such amount of memory.
  virtual Result<DeviceAddress> allocate(std::string_view name, uint64_t bytes) = 0;
  /// Bytes of all such memory of this rank.
  virtual uint64_t allocatedBytes() const = 0;

  /// Enqueues a collective on the communicator's stream (of hosts, a thread) and returns at once; allocates
  /// nothing. Sources and destinations belong to the collective until it has been waited for. No more are in
  /// flight than the communicator was made for.
  virtual Ticket start(const Collective &collective) = 0;

  /// Waits until the collective, and with it all that were started before, is done. Fails (kFailed), naming
  /// the collective and the rank at fault, when a rank failed or has not arrived within the timeout. A group
  /// that has failed stays so.
  virtual Status wait(Ticket ticket) = 0;

  /// Tells all hosts `own`, as many bytes on each rank and at most kMostTold, and waits for what they tell,
  /// which comes to `all` in the ranks' order. A channel of its own: an exchange waits for no collective, and
  /// none for it. All ranks exchange in the same order. Fails as wait() does.
  Status exchange(std::span<const std::byte> own, std::span<std::byte> all) {
    std::atomic<bool> &exchanges = hosts().exchanges_;
    exchanges.store(true, std::memory_order_relaxed);
    Status status = exchangeWithPeers(own, all);
    exchanges.store(false, std::memory_order_relaxed);
    return status;
  }
  static constexpr size_t kMostTold = 256;

  /// Waits until every rank is here, and with it all collectives started before. Fails as wait() does.
  Status barrier() { return wait(start({.kind = MeetingKind::kBarrier})); }

  /// Tells peers that this rank is at work, however long they wait for it: the timeout counts from here anew.
  /// Cheap; call it at every instruction.
  virtual void noteProgress() = 0;

  /// For a rank that waits for others by means of its own, such as a device's: call it some times a second
  /// while that lasts, with `begins` the first time. Tells peers that this rank waits, and waits for nothing
  /// itself. Fails (kFailed), naming the rank at fault, when a rank has failed, when one neither works nor
  /// waits for the timeout, or when all wait for too long.
  virtual Status noteWait(bool begins) = 0;

  /// Tells all ranks that this one cannot go on, and why: what they wait for fails.
  virtual void fail(std::string_view reason) = 0;
  /// Ok while no rank that this one has heard of has failed; else (kFailed) which one, and why.
  virtual Status failure() const = 0;

  /// Bytes of tensors that went from rank to rank for this one so far, counted where they are moved: those
  /// that it sent, or where ranks share memory, those that it read of others'. For N that meet they are, over
  /// all, N-1 times each tensor, twice that for an all-reduce, as in a ring. A gather or a reduce-scatter
  /// takes the same of each rank; of an all-reduce a rank has its share, in whole cache lines.
  virtual uint64_t bytesSent() const = 0;

  /// So far; nothing where tensors move beside the host, which then does not learn when.
  virtual std::optional<CommunicationSeconds> seconds() const = 0;

protected:
  /// Which communicator tells peers of this rank's own time: of one that leaves hosts to another, that one.
  virtual Communicator &hosts() { return *this; }

  /// For the engine's thread, to call some times a second while it has nothing to run. An exchange waits for
  /// peers, and is not the rank's own time.
  void noteOwnTime() {
    if (ownTimes_.load(std::memory_order_relaxed) > 0 && !exchanges_.load(std::memory_order_relaxed))
      noteProgress();
  }

  /// See exchange().
  virtual Status exchangeWithPeers(std::span<const std::byte> own, std::span<std::byte> all) = 0;

private:
  std::atomic<uint32_t> ownTimes_{0}; ///< that live
  std::atomic<bool> exchanges_{false};
};

/// What of a collective is the same on all ranks, in as many bytes whatever it moves.
struct Outline {
  MeetingKind kind = MeetingKind::kBarrier;
  fb::Group group = fb::Group::All;
  fb::DType dtype = fb::DType::U8; ///< of all ranges; u8 where they differ, or there are none
  bool widens = false;             ///< whether any range does
  uint32_t ranges = 0;
  uint64_t elements = 0; ///< of all ranges together
  uint64_t digest = 0;   ///< of all the above and of each range's elements, dtype and widening, in order

  bool operator==(const Outline &) const = default;
};

Outline outlineOf(const Collective &collective);

/// As describe() of the collective.
std::string describe(const Outline &outline);

} // namespace trainc
