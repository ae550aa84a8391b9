// Pairs a file's tensors with the plan's, and brings the bytes from one to the other.
#pragma once

#include "runtime/formats/safetensors_view.h"
#include "runtime/state/file_checksums.h"
#include "runtime/state/state_tensor.h"

#include <functional>
#include <optional>
#include <set>

namespace trainc {

/// What may become of floats whose dtype is not the plan's.
enum class Conversion {
  kWiden, ///< F16, BF16 and F64 become F32
  kRound, ///< and F16, F32 and F64 the nearest BF16
};

/// Whether elements of `from` become elements of `to` in a transfer: equal dtypes, or as `conversion` says.
bool convertible(SafetensorsDType from, fb::DType to, Conversion conversion = Conversion::kWiden);

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
/// Fails when a destination cannot be written, and (kInvalidInput, naming the tensor) at a finite number that
/// BF16 has no finite number for.
Result<std::optional<size_t>> transferTensors(std::span<const TensorTransfer> transfers, unsigned threads);

/// The file's tensor for a plan's tensor of that name, or null.
using TensorLookup = std::function<const SafetensorsTensor *(const std::string &name)>;

/// Has transfers check what is recorded of their sources' file. Fails if something is, and not of each
/// tensor.
Status addChecksums(const FileChecksums &recorded, std::span<TensorTransfer> transfers);

/// The pairs, and the names that have no partner or an unequal one, each with dtype and shape, ready to
/// print.
struct TensorMatch {
  std::vector<TensorTransfer> transfers; ///< without checksums
  std::vector<std::string> missing;      ///< in the plan only
  std::vector<std::string> unexpected;   ///< in the file only
  std::vector<std::string> different;    ///< other shape, or a dtype that is not convertible

  /// Ok, or kInvalidInput: `what` (the file and what it should have been), then each list, shortened when
  /// long.
  Status status(const std::string &what) const;
};

/// Finds each of `tensors` through `lookup`. A tensor of the files that no lookup returned is unexpected
/// unless `ignore` accepts it; `used` are the tensors that were returned.
using TensorFilter =
    std::function<bool(const SafetensorsTensor &tensor, const std::set<const SafetensorsTensor *> &used)>;
TensorMatch matchTensors(std::span<const SafetensorsView> files, std::span<const StateTensor> tensors,
                         const TensorLookup &lookup, const TensorFilter &ignore,
                         Conversion conversion = Conversion::kWiden);

} // namespace trainc
