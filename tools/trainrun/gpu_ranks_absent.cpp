// In place of gpu_ranks.cpp where CUDA's headers are missing.
#include "tools/trainrun/gpu_ranks.h"

namespace trainc {

Status connectGpus(const PlanFile &file, const Options &options, Rank &) {
  if (!isForGpus(file.plan()))
    return {};
  return invalidInput("{}: the plan is for GPUs, and this trainrun was built without the headers of CUDA and "
                      "NCCL; build it where they are, or compile with --target=cpu",
                      options.plan);
}

} // namespace trainc
