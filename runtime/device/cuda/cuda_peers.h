// Communication with other ranks, as seen by the device.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/device/cuda/cuda_handles.h"

#include <cuda.h>
#include <functional>

namespace trainc {

class NcclCommunicator;
struct LocalSumCall;

/// Wraps the communicator of GPUs; without one this rank is the only one.
class CudaPeers {
public:
  explicit CudaPeers(NcclCommunicator *nccl) : nccl_(nccl) {}

  bool areThere() const { return nccl_ != nullptr; }
  /// "NCCL 2.30.1 among 2 ranks".
  std::string description() const;
  /// See Communicator::allocate().
  Result<DeviceAddress> allocate(std::string_view name, uint64_t bytes, FirstBytes first) const;
  /// See NcclCommunicator::sumBy().
  void sumBy(std::function<Status(const LocalSumCall &call, CUstream stream)> sum) const;
  /// Enqueues a collective on a stream, also during capture. `place` names the instruction in messages.
  Status enqueue(const Collective &collective, CUstream stream, std::string_view place) const;
  /// Records that an enqueued collective runs, once or in a graph.
  void noteRun(const Collective &collective) const;
  /// Fails with kFailed if a peer or a collective has failed; waiting any longer is then useless.
  Status poll() const;
  /// See NcclCommunicator::abort().
  void abort() const;

private:
  NcclCommunicator *nccl_;
};

} // namespace trainc
