// Copies tensors from a mapped file into the running plan's memory, in parallel, converting and verifying on
// the way.
#pragma once

#include "runtime/state/safetensors_view.h"
#include "runtime/state/state_tensor.h"

#include <optional>

namespace trainc {

/// Whether elements of `from` become elements of `to` in a transfer: equal dtypes, or a float dtype into F32.
bool convertible(SafetensorsDType from, fb::DType to);

/// One tensor to copy: equal shapes, convertible dtypes.
struct TensorTransfer {
  const SafetensorsTensor *source;
  const StateTensor *destination;
  std::optional<uint64_t> checksum; ///< XXH3-64 that the source's bytes must have
};

/// Runs all transfers on `threads` threads, or on fewer where the system starts no more. Returns the index of
/// the first transfer whose checksum differs, if any (its destination is then written all the same).
std::optional<size_t> transferTensors(std::span<const TensorTransfer> transfers, unsigned threads);

} // namespace trainc
