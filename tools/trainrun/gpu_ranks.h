// Ranks on GPUs, which exchange tensors through NCCL.
#pragma once

#include "runtime/device/device.h"
#include "runtime/plan/file.h"
#include "runtime/plan/view.h"
#include "runtime/schema/cuda_levels.h"
#include "tools/trainrun/options.h"
#include "tools/trainrun/rank.h"

namespace trainc {

/// Whether the plan's tensors are in the memory of GPUs.
inline bool isForGpus(const fb::Plan &plan) { return view(plan.target()) == kCudaTarget; }

/// Lets NCCL connect the ranks of a plan for GPUs, which the rank's communicator has brought together;
/// nothing for other plans. All ranks together. Fails as NcclCommunicator::create() does, and (kInvalidInput)
/// where this program was built without CUDA's headers.
Status connectGpus(const PlanFile &file, const Options &options, Rank &rank);

/// The rank's GPU. Fails as CudaDevice::open() does, and (kInvalidInput) without CUDA's headers.
Result<std::unique_ptr<Device>> openGpu(const Rank &rank, unsigned threads);

} // namespace trainc
