// The entry of NVIDIA GPUs in the registry of devices.
#include "runtime/comm/stream_communicator.h"
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/device/device_kinds.h"

namespace trainc {

extern OpenDevice openCudaDevice;

/// Whether ranks may share the GPU was checked when they were connected.
Result<OpenedDevice> openCudaDevice(const DevicePlace &place) {
  StreamCommunicator *peers = place.communicator ? place.communicator->onStreams() : nullptr;
  TRAINC_ASSIGN_OR_RETURN(std::unique_ptr<Device> device, CudaDevice::open({.index = place.rank.localIndex,
                                                                            .ranks = place.rank.localRanks,
                                                                            .mayShare = peers != nullptr},
                                                                           peers, place.threads));
  return OpenedDevice{std::move(device), place.threads};
}

} // namespace trainc
