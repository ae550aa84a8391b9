// An NCCL communicator of one rank group.
#pragma once

#include "runtime/comm/nccl/nccl_library.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace trainc {

/// Timeout callback, polled during NCCL operations that may hang; an error ends the operation.
using NcclTimeout = std::function<Status()>;

/// A non-blocking NCCL communicator. Long operations stay in progress, and waitUntilDone() waits for them
/// until the timeout callback returns an error.
class NcclGroup {
public:
  NcclGroup() = default;
  NcclGroup(const NcclGroup &) = delete;
  NcclGroup &operator=(const NcclGroup &) = delete;
  ~NcclGroup();

  /// Connects with the other ranks of `id`.
  Status open(const ncclUniqueId &id, uint32_t ranks, uint32_t rank, const NcclTimeout &timeout);
  /// Registers memory, so that NCCL moves it without staging copies; all ranks register in the same order.
  Status enrol(void *memory, uint64_t bytes, const NcclTimeout &timeout);
  /// Waits until no operation is in progress.
  Status waitUntilDone(const char *call, const NcclTimeout &timeout) const;
  /// The asynchronous error of this rank or another, if any.
  Status health() const;
  /// Whether the asynchronous error may come from ended ranks or a lost network connection.
  bool mayHaveLostPeers() const;
  /// Ends the device work in flight. The group is unusable afterwards.
  void abort();
  /// Leaves the group; no work may be in flight.
  Status close(const NcclTimeout &timeout);

  ncclComm_t handle() const { return handle_; }

private:
  ncclComm_t handle_ = nullptr;
  std::vector<void *> enrolled_;
};

} // namespace trainc
