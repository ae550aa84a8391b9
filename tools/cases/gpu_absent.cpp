// Replaces gpu.cpp if CUDA's headers are missing.
#include "tools/cases/run.h"

namespace trainc::cases {

Result<std::unique_ptr<Device>> openGpu() {
  return invalidInput("this program was built without the headers of CUDA and NCCL, and runs nothing on "
                      "GPUs; build it where they are");
}

} // namespace trainc::cases
