// Ranks on GPUs, which communicate through NCCL.
#pragma once

#include "plan/facts/target.h"
#include "plan/file/file.h"
#include "runtime/device/device.h"
#include "tools/trainrun/options.h"
#include "tools/trainrun/rank.h"

namespace trainc {

/// Connects the ranks of a GPU plan by NCCL, on top of the rank's communicator; does nothing for other plans.
/// Collective: all ranks call it. Fails like NcclCommunicator::create(), and with kInvalidInput if this
/// program was built without CUDA's headers.
Status connectGpus(const PlanFile &file, const Options &options, Rank &rank);

/// Opens the rank's GPU. Fails like CudaDevice::open(), and with kInvalidInput without CUDA's headers.
Result<std::unique_ptr<Device>> openGpu(const Rank &rank, unsigned threads);

} // namespace trainc
