#include "tools/trainrun/gpu_ranks.h"

#include "runtime/comm/nccl/nccl_communicator.h"
#include "runtime/device/cuda/cuda_device.h"

namespace trainc {

namespace {

CudaPlace placeOf(const Rank &rank, bool mayShare) {
  return {.index = rank.localIndex, .ranks = rank.localRanks, .mayShare = mayShare};
}

} // namespace

Status connectGpus(const PlanFile &file, const Options &, Rank &rank) {
  const fb::Plan &plan = file.plan();
  if (!isForCuda(plan) || plan.ranks() == 1)
    return {};
  const CudaPlace place = placeOf(rank, NcclCommunicator::sharingIsAsked());
  TRAINC_ASSIGN_OR_RETURN(std::unique_ptr<NcclCommunicator> nccl,
                          NcclCommunicator::create(std::move(rank.communicator),
                                                   {.place = place, .shardRanks = plan.shard_ranks()}));
  rank.nccl = nccl.get();
  rank.communicator = std::move(nccl);
  return {};
}

/// Whether ranks may share the GPU was checked when NCCL connected them.
Result<std::unique_ptr<Device>> openGpu(const Rank &rank, unsigned threads) {
  TRAINC_ASSIGN_OR_RETURN(std::unique_ptr<Device> device,
                          CudaDevice::open(placeOf(rank, rank.nccl != nullptr), rank.nccl, threads));
  return device;
}

} // namespace trainc
