// Replaces gpu_ranks.cpp if CUDA's headers are missing.
#include "tools/trainrun/gpu_ranks.h"

namespace trainc {

namespace {

Status lacksCuda() {
  return invalidInput(
      "the plan is for GPUs, and this trainrun was built without the headers of CUDA and NCCL; "
      "build it where they are, or compile with --target=cpu");
}

} // namespace

Status connectGpus(const PlanFile &file, const Options &, Rank &) {
  return isForCuda(file.plan()) ? lacksCuda() : Status();
}

Result<std::unique_ptr<Device>> openGpu(const Rank &, unsigned) { return lacksCuda(); }

} // namespace trainc
