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
  fb::DType dtype = fb::DType::F32;           ///< F32, BF16 or F16
  std::span<const DeviceAddress> inputs = {}; ///< one of each place, in their order, aligned to an element
  DeviceAddress out; ///< may be one of the inputs; apart from that they do not overlap
  uint64_t elements = 0;
};

/// Enqueues out[i] = the sum of inputs[.][i] over the tree of runtime/comm/tree_sum.h, also while the stream
/// is captured.
using LocalSum = std::function<Status(const LocalSumCall &call, CUstream stream)>;

/// One rank's side of the collectives of one group. Sums are NCCL's own, or those of the tree, which are an
/// all-to-all and a local sum: see docs/adr/0021-the-order-of-sums-on-gpus.md.
class NcclCollectives {
public:
  /// Memory for what peers send, of the device, registered with the group. All of it where sums are the
  /// tree's; else none.
  struct Staging {
    DeviceAddress memory;
    uint64_t bytes = 0;
  };

  NcclCollectives(const NcclGroup &group, Members members, uint32_t rank)
      : group_(group), members_(members), place_(members.placeOf(rank)) {}

  /// With the orders of NCCL.
  Status enqueue(const Collective &collective, CUstream stream, const NcclPatience &patience) const;
  /// With those of the tree.
  Status enqueueTree(const Collective &collective, const Staging &staging, const LocalSum &sum,
                     CUstream stream, const NcclPatience &patience) const;

private:
  template <typename Calls> Status inGroup(const NcclPatience &patience, Calls calls) const;
  Status enqueueRange(const Collective &collective, const CollectiveRange &range, CUstream stream) const;
  Status exchangeShares(const Collective &collective, Window window, const Staging &staging,
                        CUstream stream) const;
  Status sumShare(const Collective &collective, Window window, const Staging &staging, const LocalSum &sum,
                  CUstream stream) const;
  Status gatherSums(const Collective &collective, CUstream stream) const;
  Share share(const Collective &collective, uint32_t place) const {
    return {collective, members_.count, place};
  }
  uint64_t pieceBytes(const Staging &staging) const {
    return staging.bytes / members_.count / kCacheLine * kCacheLine;
  }

  const NcclGroup &group_;
  Members members_;
  uint32_t place_;
};

} // namespace trainc
