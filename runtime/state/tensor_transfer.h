// Copies tensors from a mapped file into the running plan's memory, in parallel, converting and verifying on
// the way.
#pragma once

#include "runtime/formats/safetensors_view.h"
#include "runtime/state/file_checksums.h"
#include "runtime/state/state_tensor.h"

#include <optional>

namespace trainc {

/// Whether elements of `from` become elements of `to` in a transfer: equal dtypes, or a float dtype into F32.
bool convertible(SafetensorsDType from, fb::DType to);

/// One tensor to copy, as far as the destination holds it: equal shapes, convertible dtypes.
struct TensorTransfer {
  const SafetensorsTensor *source;
  const StateTensor *destination;
  /// That the source's blocks must have; null: unknown. Only blocks of which something is copied are read.
  const std::vector<uint64_t> *checksums = nullptr;
  uint64_t blockBytes = FileChecksums::kWholeTensors;
};

/// Runs all transfers on `threads` threads, or on fewer where the system starts no more. Returns the index of
/// the first transfer of which a checksum differs, if any (its destination is then written all the same).
std::optional<size_t> transferTensors(std::span<const TensorTransfer> transfers, unsigned threads);

} // namespace trainc
