// Interface of the executor to its peers. Implementations: local/ (ranks of one host), mpi/, tcp/, nccl/
// (tensors of GPUs).
#pragma once

#include "base/clock.h"
#include "base/communication_seconds.h"
#include "base/device_address.h"
#include "base/status.h"
#include "plan/facts/collective.h"
#include "plan/facts/mesh.h"
#include "plan/schema/plan_generated.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace trainc {

/// Operations in which ranks meet: the collectives of plans, with the numbers of fb::CollectiveKind, and two
/// barriers.
enum class MeetingKind : uint8_t {
  kAllReduce,     ///< every rank gets the sum of all sources
  kReduceScatter, ///< rank p of the group gets shard p of the sum of all sources
  kAllGather,     ///< every rank gets all sources, each a shard, in rank order
  kBarrier,       ///< transfers no data
  kShutdown,      ///< a barrier after which the rank starts no more collectives
};
static_assert(uint8_t(MeetingKind::kBarrier) == uint8_t(fb::CollectiveKind::MAX) + 1);

/// A sum that a kernel of the plan computes from the data the ranks have sent each other (fb::Range).
struct KernelSum {
  uint32_t kernel;         ///< index in the plan
  DeviceAddress workspace; ///< receive buffer for the data of the other ranks
  uint64_t workspaceBytes;
};

/// One tensor of a collective. Source and destination lie in allocated memory, at the same offset on every
/// rank; a shard may instead lie at its offset within the whole tensor. They do not overlap, except that the
/// source may be the destination (kAllReduce) or this rank's shard of it (kAllGather).
struct CollectiveRange {
  DeviceAddress source = {};      ///< the whole tensor; a shard for kAllGather
  DeviceAddress destination = {}; ///< the whole tensor; a shard for kReduceScatter
  /// Elements of the whole tensor. For kReduceScatter and kAllGather a multiple of the number of ranks in the
  /// group: shard p belongs to rank p of the group.
  uint64_t elements = 0;
  /// Sums (kAllReduce, kReduceScatter) need F32, BF16 or F16; other kinds move any type.
  fb::DType dtype = fb::DType::F32;
  /// For kReduceScatter of BF16 or F16 only: the destination is F32 and receives the sums unrounded. Ranks
  /// still exchange `dtype`.
  bool widens = false;
  /// The kernel of a sum on a GPU that NCCL does not compute.
  std::optional<KernelSum> sum = std::nullopt;

  fb::DType destinationType() const { return widens ? fb::DType::F32 : dtype; }
};

/// One collective operation, equal on all ranks of a group. Each range gets the bits that it would get alone;
/// no range's destination overlaps another range.
struct Collective {
  MeetingKind kind = MeetingKind::kBarrier;
  Axes axes = kAllAxes; ///< axes of the mesh along which the ranks meet
  /// At most kMaxRanges; none for barriers. Unchanged until wait() returns or, if nobody waits, until the
  /// communicator is destroyed.
  std::span<const CollectiveRange> ranges = {};
  /// If set, receives the span in which the collective was in flight, once it was waited for. Unchanged if
  /// the communicator does not measure times (see seconds()).
  TimeSpan *ran = nullptr;
};

/// "all-reduce", "reduce-scatter", ...
const char *collectiveName(MeetingKind kind);

/// Traits of a plan's collective. The traits of barriers mean nothing.
inline CollectiveTraits traitsOf(MeetingKind kind) { return traitsOf(static_cast<fb::CollectiveKind>(kind)); }

/// Description for messages: "all-reduce of 1024 f32", "all-gather of 8 bf16 over shard" if the mesh has
/// other axes, "reduce-scatter of 4096 f32 in 3 ranges", "barrier".
std::string describe(const Collective &collective, const Mesh &mesh);

/// Identifies a collective: the number of collectives started before it.
using Ticket = uint64_t;

/// One rank of a group. Collectives run asynchronously, in start order; all ranks of a group start the same
/// ones in the same order, independently of other groups. Sums follow the tree of tree_sum.h over the ranks
/// of the group, so the bits of an element depend only on the ranks' values. If an axis has 2^k ranks,
/// summing its f32 sums along the axis before it gives the bits of the sum along both. start()
/// validates nothing, because buffers come from a verified plan. Not thread-safe except for noteProgress()
/// and fail(): one thread drives a communicator.
class Communicator {
public:
  /// Scope in which this rank waits for resources of its own: its disk, or a reader of its output. Peers wait
  /// without a timeout, because the engine's thread keeps reporting progress; a process that is stopped or
  /// has ended still counts as dead. Scopes may nest.
  class [[nodiscard]] LocalWait {
  public:
    /// `communicator` may be null if there are no peers.
    explicit LocalWait(Communicator *communicator)
        : communicator_(communicator ? &communicator->hosts() : nullptr) {
      if (communicator_)
        communicator_->localWaits_.fetch_add(1, std::memory_order_relaxed);
    }
    ~LocalWait() {
      if (communicator_)
        communicator_->localWaits_.fetch_sub(1, std::memory_order_relaxed);
    }
    LocalWait(const LocalWait &) = delete;
    LocalWait &operator=(const LocalWait &) = delete;

  private:
    Communicator *communicator_;
  };

  virtual ~Communicator() = default;

  /// Returns the communicator itself if its collectives run on streams of the device; null otherwise.
  virtual class StreamCommunicator *onStreams() { return nullptr; }

  virtual uint32_t rank() const = 0;
  virtual uint32_t ranks() const = 0;

  /// Allocates `bytes` of zeroed memory for an arena, aligned to kArenaAlignment, that lives as long as the
  /// communicator. The memory belongs to the host, or to the device if the communicator was made for a device
  /// with memory of its own. Every rank allocates the same sizes in the same order. Collectives work only on
  /// such memory, which peers may read in place. Fails with kFailed, naming `name`, if there is not enough
  /// memory.
  virtual Result<DeviceAddress> allocate(std::string_view name, uint64_t bytes) = 0;
  /// Total bytes allocated by this rank.
  virtual uint64_t allocatedBytes() const = 0;

  /// Enqueues a collective on the communicator's stream (a thread for host memory) and returns at once; does
  /// not allocate. Sources and destinations must not be touched until wait() has returned. The number in
  /// flight must not exceed the communicator's limit.
  virtual Ticket start(const Collective &collective) = 0;

  /// Waits until the collective and all earlier ones are done. Fails with kFailed, naming the collective and
  /// the rank at fault, if a rank failed or has not arrived within the timeout. The failure of a group is
  /// permanent.
  virtual Status wait(Ticket ticket) = 0;

  /// All-gathers `own` (equal size on each rank, at most kMaxExchangeBytes bytes) among all hosts into `all`,
  /// in rank order, and blocks until it is complete. Uses a channel of its own: exchanges and collectives do
  /// not wait for each other. All ranks exchange in the same order. Fails like wait().
  Status exchange(std::span<const std::byte> own, std::span<std::byte> all) {
    std::atomic<bool> &exchanges = hosts().exchanges_;
    exchanges.store(true, std::memory_order_relaxed);
    Status status = exchangeWithPeers(own, all);
    exchanges.store(false, std::memory_order_relaxed);
    return status;
  }
  static constexpr size_t kMaxExchangeBytes = 256;

  /// Waits until every rank has arrived and all earlier collectives are done. Fails like wait().
  Status barrier() { return wait(start({.kind = MeetingKind::kBarrier})); }

  /// Reports to peers that this rank is making progress, which restarts their timeout. Cheap enough to call
  /// at every instruction.
  virtual void noteProgress() = 0;

  /// Reports to peers that this rank waits for others by other means, such as a device's collectives; returns
  /// at once. Call it several times a second during the wait, the first time with `begins`. Fails with
  /// kFailed, naming the rank at fault, if a rank has failed, if one neither makes progress nor waits for the
  /// timeout, or if all wait for too long.
  virtual Status noteWait(bool begins) = 0;

  /// Reports to all ranks that this one cannot continue, and why; their waits fail.
  virtual void fail(std::string_view reason) = 0;
  /// Ok while this rank knows of no failed rank; else kFailed with the failed rank and the reason.
  virtual Status failure() const = 0;

  /// Bytes of tensors transferred between ranks for this rank so far: bytes sent or, with shared memory,
  /// bytes read from other ranks. Over all N ranks of a group they sum to N-1 times each tensor, and twice
  /// that for an all-reduce, as in a ring. Gathers and reduce-scatters count the same on each rank; an
  /// all-reduce counts a rank's share, in whole cache lines.
  virtual uint64_t bytesSent() const = 0;

  /// Communication times so far; nothing if tensors move without the host, which cannot measure them.
  virtual std::optional<CommunicationSeconds> seconds() const = 0;

protected:
  /// The communicator that reports this rank's LocalWait to peers; a wrapper returns the wrapped one.
  virtual Communicator &hosts() { return *this; }

  /// Reports progress while an LocalWait is open. The engine's thread calls it several times a second while
  /// idle. Does nothing during an exchange, which waits for peers.
  void noteLocalWait() {
    if (localWaits_.load(std::memory_order_relaxed) > 0 && !exchanges_.load(std::memory_order_relaxed))
      noteProgress();
  }

  /// See exchange().
  virtual Status exchangeWithPeers(std::span<const std::byte> own, std::span<std::byte> all) = 0;

private:
  std::atomic<uint32_t> localWaits_{0}; ///< number of open scopes
  std::atomic<bool> exchanges_{false};
};

/// Fingerprint of a collective that is equal on all ranks; of fixed size.
struct CollectiveFingerprint {
  MeetingKind kind = MeetingKind::kBarrier;
  Axes axes = kAllAxes;
  fb::DType dtype = fb::DType::U8; ///< common type of all ranges; u8 if they differ or there are none
  bool widens = false;             ///< whether any range widens
  uint32_t ranges = 0;
  uint64_t elements = 0; ///< total of all ranges
  uint64_t digest =
      0; ///< hash of the fields above and of each range's elements, dtype and widening, in order

  bool operator==(const CollectiveFingerprint &) const = default;
};

CollectiveFingerprint fingerprintOf(const Collective &collective);

/// Like describe() of the collective.
std::string describe(const CollectiveFingerprint &fingerprint, const Mesh &mesh);

} // namespace trainc
