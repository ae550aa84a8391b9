// Collectives of plans as NCCL calls.
#pragma once

#include "runtime/comm/nccl/nccl_group.h"
#include "runtime/comm/parts.h"
#include "runtime/comm/stream_communicator.h"
#include "runtime/cuda/driver_library.h"

#include <vector>

namespace trainc {

/// One rank's side of the collectives of one group. A sum uses NCCL's own reduction, or the fixed tree: an
/// all-to-all and a kernel. See docs/adr/0021-the-order-of-sums-on-gpus.md.
class NcclCollectives {
public:
  NcclCollectives(const NcclGroup &group, Members members, uint32_t rank)
      : group_(group), members_(members), place_(members.placeOf(rank)) {}

  /// Enqueues a collective; `sum` computes the sums of ranges that have a kernel for it.
  Status enqueue(const Collective &collective, const LocalSum &sum, CUstream stream,
                 const NcclTimeout &timeout) const;

private:
  template <typename Calls> Status inGroup(const NcclTimeout &timeout, Calls calls) const;
  Status enqueueRange(const Collective &collective, const CollectiveRange &range, CUstream stream) const;
  /// Enqueues collectives of one tensor each that kernels sum.
  Status enqueueSums(std::span<const Collective> tensors, const LocalSum &sum, CUstream stream,
                     const NcclTimeout &timeout) const;
  Status exchangeShares(const Collective &tensor, uint64_t round, CUstream stream) const;
  Status sumShare(const Collective &tensor, uint64_t round, const LocalSum &sum, CUstream stream) const;
  Status gatherSums(const Collective &tensor, CUstream stream) const;
  Share share(const Collective &collective, uint32_t place) const {
    return {collective, members_.count, place};
  }
  /// Bytes that each other place sends in one round.
  uint64_t pieceBytes(const KernelSum &sum) const {
    return sum.workspaceBytes / (members_.count - 1) / kCacheLine * kCacheLine;
  }
  /// Part of the shares that one round sends.
  Window window(const KernelSum &sum, uint64_t round) const {
    return {round * pieceBytes(sum), (round + 1) * pieceBytes(sum)};
  }
  uint64_t rounds(const Collective &tensor) const;
  /// Receive address of a peer's piece.
  DeviceAddress arrival(const KernelSum &sum, uint32_t peer) const {
    return sum.workspace + (peer < place_ ? peer : peer - 1) * pieceBytes(sum);
  }

  const NcclGroup &group_;
  Members members_;
  uint32_t place_;
};

} // namespace trainc
