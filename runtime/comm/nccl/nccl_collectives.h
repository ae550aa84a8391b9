// Collectives of plans as calls of NCCL.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/comm/grid.h"
#include "runtime/comm/nccl/nccl_group.h"
#include "runtime/comm/parts.h"
#include "runtime/device/cuda/driver_library.h"

#include <functional>
#include <vector>

namespace trainc {

/// Elements that one rank adds.
struct LocalSumCall {
  uint32_t kernel = 0;                        ///< of the plan; the rest is what it is called with
  std::span<const DeviceAddress> inputs = {}; ///< one of each place, in their order, aligned to an element
  DeviceAddress out; ///< may be one of the inputs; apart from that they do not overlap
  DeviceAddress end; ///< of `out`
};

/// Enqueues out[i] = the sum of inputs[.][i] over the tree of runtime/comm/tree_sum.h, also while the stream
/// is captured.
using LocalSum = std::function<Status(const LocalSumCall &call, CUstream stream)>;

/// One rank's side of the collectives of one group. Sums are NCCL's own, or those of the tree, which are an
/// all-to-all and a sum by a kernel: see docs/adr/0021-the-order-of-sums-on-gpus.md.
class NcclCollectives {
public:
  NcclCollectives(const NcclGroup &group, Members members, uint32_t rank)
      : group_(group), members_(members), place_(members.placeOf(rank)) {}

  /// `sum` makes the sums of ranges that have a kernel for them.
  Status enqueue(const Collective &collective, const LocalSum &sum, CUstream stream,
                 const NcclPatience &patience) const;

private:
  template <typename Calls> Status inGroup(const NcclPatience &patience, Calls calls) const;
  Status enqueueRange(const Collective &collective, const CollectiveRange &range, CUstream stream) const;
  /// Those of tensors that are summed by kernels, each a collective of its own.
  Status enqueueSums(std::span<const Collective> tensors, const LocalSum &sum, CUstream stream,
                     const NcclPatience &patience) const;
  Status exchangeShares(const Collective &tensor, uint64_t round, CUstream stream) const;
  Status sumShare(const Collective &tensor, uint64_t round, const LocalSum &sum, CUstream stream) const;
  Status gatherSums(const Collective &tensor, CUstream stream) const;
  Share share(const Collective &collective, uint32_t place) const {
    return {collective, members_.count, place};
  }
  /// Of what each other place sends in one round.
  uint64_t pieceBytes(const KernelSum &sum) const {
    return sum.workspaceBytes / (members_.count - 1) / kCacheLine * kCacheLine;
  }
  /// What of the shares goes in a round.
  Window window(const KernelSum &sum, uint64_t round) const {
    return {round * pieceBytes(sum), (round + 1) * pieceBytes(sum)};
  }
  uint64_t rounds(const Collective &tensor) const;
  /// Where a peer's piece arrives.
  DeviceAddress arrival(const KernelSum &sum, uint32_t peer) const {
    return sum.workspace + (peer < place_ ? peer : peer - 1) * pieceBytes(sum);
  }

  const NcclGroup &group_;
  Members members_;
  uint32_t place_;
};

} // namespace trainc
