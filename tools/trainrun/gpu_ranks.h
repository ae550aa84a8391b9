// Ranks on GPUs, which communicate through NCCL.
#pragma once

#include "runtime/device/device.h"
#include "plan/file/file.h"
#include "plan/facts/view.h"
#include "plan/schema/cuda_levels.h"
#include "tools/trainrun/options.h"
#include "tools/trainrun/rank.h"

namespace trainc {

/// Whether the plan's tensors are in GPU memory.
inline bool isForGpus(const fb::Plan &plan) { return view(plan.target()) == kCudaTarget; }

/// Connects the ranks of a GPU plan by NCCL, on top of the rank's communicator; does nothing for other plans.
/// Collective: all ranks call it. Fails like NcclCommunicator::create(), and with kInvalidInput if this
/// program was built without CUDA's headers.
Status connectGpus(const PlanFile &file, const Options &options, Rank &rank);

/// Opens the rank's GPU. Fails like CudaDevice::open(), and with kInvalidInput without CUDA's headers.
Result<std::unique_ptr<Device>> openGpu(const Rank &rank, unsigned threads);

} // namespace trainc
