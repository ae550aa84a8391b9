// The entry of NCCL in the registry of communicators.
#include "runtime/comm/communicator_kinds.h"
#include "runtime/comm/nccl/nccl_communicator.h"

namespace trainc {

extern ConnectRanks connectNccl;

Result<std::unique_ptr<Communicator>> connectNccl(std::unique_ptr<Communicator> hosts, const RankPlace &place,
                                                  const Mesh &mesh) {
  const CudaPlace gpu = {
      .index = place.localIndex, .ranks = place.localRanks, .mayShare = NcclCommunicator::sharingIsAsked()};
  TRAINC_ASSIGN_OR_RETURN(std::unique_ptr<NcclCommunicator> nccl,
                          NcclCommunicator::create(std::move(hosts), {.place = gpu, .mesh = mesh}));
  return std::unique_ptr<Communicator>(std::move(nccl));
}

} // namespace trainc
