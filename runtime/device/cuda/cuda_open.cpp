// The entry of NVIDIA GPUs in the registry of devices.
#include "runtime/comm/nccl/nccl_communicator.h"
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/device/device_kinds.h"

namespace trainc {

extern OpenDevice openCudaDevice;

/// Whether ranks may share the GPU was checked when NCCL connected them.
Result<OpenedDevice> openCudaDevice(const DevicePlace &place) {
  auto *nccl = static_cast<NcclCommunicator *>(place.communicator); // connectNccl() made it
  TRAINC_ASSIGN_OR_RETURN(std::unique_ptr<Device> device, CudaDevice::open({.index = place.rank.localIndex,
                                                                            .ranks = place.rank.localRanks,
                                                                            .mayShare = nccl != nullptr},
                                                                           nccl, place.threads));
  return OpenedDevice{std::move(device), place.threads};
}

} // namespace trainc
