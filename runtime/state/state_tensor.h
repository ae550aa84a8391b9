// A persistent tensor of a running plan, as checkpoints see it.
#pragma once

#include "runtime/formats/safetensors_layout.h"
#include "runtime/schema/plan_generated.h"
#include "runtime/state/tensor_memory.h"

#include <cstdint>

namespace trainc {

/// A tensor of which this process holds all or a part: row-major, little-endian.
struct StateTensor {
  std::string name; ///< logical: the Hugging Face name of a parameter, "exp_avg.NAME" of an optimizer state
  fb::DType dtype;
  std::vector<uint64_t> shape;
  TensorMemory bytes;     ///< whole elements, not owned; all of the tensor's unless it is divided
  uint64_t firstByte = 0; ///< of the tensor, with which `bytes` begin
  bool divided = false;   ///< each rank of a shard group holds a part
};

/// Bytes of the whole tensor.
uint64_t tensorBytes(const StateTensor &tensor);

/// The file of whole tensors, whatever part of them this process holds.
SafetensorsLayout layOutSafetensors(std::span<const StateTensor> tensors);

/// "F32 [2, 3]", for messages.
std::string describe(const StateTensor &tensor);

} // namespace trainc
