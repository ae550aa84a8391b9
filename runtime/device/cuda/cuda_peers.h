// The other ranks, as their GPUs see them.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/device/cuda/cuda_handles.h"

#include <cuda.h>
#include <functional>

namespace trainc {

class NcclCommunicator;
struct LocalSumCall;

/// What the device needs of the communicator of GPUs; without one, it is the only rank.
class CudaPeers {
public:
  explicit CudaPeers(NcclCommunicator *nccl) : nccl_(nccl) {}

  bool areThere() const { return nccl_ != nullptr; }
  /// "NCCL 2.30.1 among 2 ranks".
  std::string description() const;
  /// See Communicator::allocate().
  Result<DeviceAddress> allocate(std::string_view name, uint64_t bytes, FirstBytes first) const;
  /// What adds where ranges of collectives have a kernel for it: see NcclCommunicator::sumBy().
  void sumBy(std::function<Status(const LocalSumCall &call, CUstream stream)> sum) const;
  /// Puts a collective on a stream, also while that is captured. `place` says for messages which instruction
  /// it is.
  Status enqueue(const Collective &collective, CUstream stream, std::string_view place) const;
  /// Notes that a collective runs that enqueue() has put on a stream, once or in a graph.
  void noteRun(const Collective &collective) const;
  /// Fails (kFailed) when a peer has failed, or a collective; nothing more is then to be waited for.
  Status poll() const;
  /// See NcclCommunicator::abort().
  void abort() const;

private:
  NcclCommunicator *nccl_;
};

} // namespace trainc
