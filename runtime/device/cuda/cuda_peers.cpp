#include "runtime/device/cuda/cuda_peers.h"

#include "runtime/comm/nccl/nccl_communicator.h"

namespace trainc {

std::string CudaPeers::description() const {
  return fmt::format("NCCL {} among {} ranks", vendorVersionText(nccl().version), nccl_->ranks());
}

Result<DeviceAddress> CudaPeers::allocate(std::string_view name, uint64_t bytes, FirstBytes first) const {
  return nccl_->allocate(name, bytes, first);
}

void CudaPeers::sumBy(std::function<Status(const LocalSumCall &, CUstream)> sum) const {
  nccl_->sumBy(std::move(sum));
}

Status CudaPeers::enqueue(const Collective &collective, CUstream stream, std::string_view place) const {
  return nccl_->enqueue(collective, stream, place);
}

void CudaPeers::noteRun(const Collective &collective) const { nccl_->noteLaunch(nccl_->bytesOf(collective)); }

Status CudaPeers::poll() const { return nccl_->poll(); }

void CudaPeers::abort() const { nccl_->abort(); }

} // namespace trainc
