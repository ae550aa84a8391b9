#include "runtime/device/cuda/cuda_device.h"
#include "tools/cases/run.h"

namespace trainc::cases {

Result<std::unique_ptr<Device>> openGpu() {
  TRAINC_ASSIGN_OR_RETURN(std::unique_ptr<Device> device, CudaDevice::open(CudaPlace()));
  return device;
}

} // namespace trainc::cases
