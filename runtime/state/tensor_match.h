// Pairs a file's tensors with the plan's, and lists what does not fit.
#pragma once

#include "runtime/state/tensor_transfer.h"

#include <functional>
#include <set>

namespace trainc {

/// The file's tensor for a plan's tensor of that name, or null.
using TensorLookup = std::function<const SafetensorsTensor *(const std::string &name)>;

/// Has transfers check what is recorded of their sources' file.
void addChecksums(const FileChecksums &recorded, std::span<TensorTransfer> transfers);

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
                         const TensorLookup &lookup, const TensorFilter &ignore);

} // namespace trainc
