// The ranks of one group, as NCCL connects them.
#pragma once

#include "runtime/comm/nccl/nccl_library.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace trainc {

/// Is asked while NCCL is at something that may hang; an error ends it.
using NcclPatience = std::function<Status()>;

/// A communicator of NCCL's that never blocks the host: what takes long is in progress, and settle() waits
/// for it, as long as its owner has patience.
class NcclGroup {
public:
  NcclGroup() = default;
  NcclGroup(const NcclGroup &) = delete;
  NcclGroup &operator=(const NcclGroup &) = delete;
  ~NcclGroup();

  /// Together with the other ranks of `id`.
  Status open(const ncclUniqueId &id, uint32_t ranks, uint32_t rank, const NcclPatience &patience);
  /// Makes memory known, which the group then moves without copies of its own; all ranks do so in one order.
  Status enrol(void *memory, uint64_t bytes, const NcclPatience &patience);
  /// Waits until nothing is in progress.
  Status settle(const char *call, const NcclPatience &patience) const;
  /// What has gone wrong since, in this rank or another.
  Status health() const;
  /// Whether what has gone wrong may be that other ranks have ended, or the network to them.
  bool mayHaveLostPeers() const;
  /// Ends what is under way on the device. Nothing else is done with the group then.
  void abort();
  /// Leaves the other ranks, once nothing is under way.
  Status close(const NcclPatience &patience);

  ncclComm_t handle() const { return handle_; }

private:
  ncclComm_t handle_ = nullptr;
  std::vector<void *> enrolled_;
};

} // namespace trainc
