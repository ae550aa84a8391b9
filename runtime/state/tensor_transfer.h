// Matches a file's tensors with the plan's, and transfers their bytes.
#pragma once

#include "runtime/formats/weight_tensor.h"
#include "runtime/state/file_checksums.h"
#include "runtime/state/float_rounding.h"
#include "runtime/state/state_tensor.h"

#include <functional>
#include <optional>
#include <set>

namespace trainc {

/// Allowed conversions of floats whose dtype differs from the plan's.
enum class Conversion {
  kWiden, ///< F16, BF16 and F64 to F32
  kRound, ///< also F16, F32 and F64 to the nearest BF16
};

/// Whether elements of `from` can be transferred to `to`: equal dtypes, or an allowed conversion.
bool convertible(SafetensorsDType from, fb::DType to, Conversion conversion = Conversion::kWiden);

/// A tensor to copy, restricted to the part that the destination holds. Shapes are equal, dtypes convertible.
struct TensorTransfer {
  const WeightTensor *source;
  const StateTensor *destination;
  /// Expected checksums of the source's blocks; null: unknown. Only blocks with copied bytes are read.
  const std::vector<uint64_t> *checksums = nullptr;
  uint64_t blockBytes = FileChecksums::kWholeTensors;
};

/// Numbers that a transfer accepts.
enum class Numbers {
  kAny,
  kFinite, ///< NaN and infinity are faults
};

/// A tensor that cannot be loaded: its bytes do not match a recorded checksum, or it has a number that the
/// destination cannot represent.
struct TransferFault {
  const TensorTransfer *transfer;
  std::optional<BadElement> element; ///< nothing: a checksum differs

  /// The tensor and what is wrong with it, without advice, such as "tensor 'w', element 3: expected a finite
  /// number, found nan".
  std::string message() const;
};

/// Runs all transfers on `threads` threads, or on fewer if the system starts no more. Returns the fault of
/// the first transfer that has one; all destinations are written even then. A finite number that overflows in
/// the destination's dtype is always a fault. Fails when a destination cannot be written.
Result<std::optional<TransferFault>> transferTensors(std::span<const TensorTransfer> transfers,
                                                     unsigned threads, Numbers numbers);

/// Returns the file's tensor for a plan's tensor name, or null.
using TensorLookup = std::function<const WeightTensor *(const std::string &name)>;

/// Adds the recorded checksums of the sources' file to the transfers. Fails if checksums are recorded, but
/// not for each tensor.
Status addChecksums(const FileChecksums &recorded, std::span<TensorTransfer> transfers);

/// Matched tensors, and descriptions (with dtype and shape) of names without a partner or with an unequal
/// one.
struct TensorMatch {
  std::vector<TensorTransfer> transfers; ///< without checksums
  std::vector<std::string> missing;      ///< only in the plan
  std::vector<std::string> unexpected;   ///< only in the file
  std::vector<std::string> different;    ///< other shape, or a dtype that is not convertible

  /// Ok, or kInvalidInput with `what` (the file and what it should have been) and each list, shortened if
  /// long.
  Status status(const std::string &what) const;
};

/// Matches each of `tensors` through `lookup`. One of the `stored` tensors that no lookup returned is
/// unexpected unless `ignore` accepts it; `used` are the returned tensors.
using TensorFilter =
    std::function<bool(const WeightTensor &tensor, const std::set<const WeightTensor *> &used)>;
TensorMatch matchTensors(std::span<const WeightTensor> stored, std::span<const StateTensor> tensors,
                         const TensorLookup &lookup, const TensorFilter &ignore,
                         Conversion conversion = Conversion::kWiden);

} // namespace trainc
