// Pairs the tensors of a checkpoint with those of a model whose form the export has.
#pragma once

#include "runtime/formats/weight_files.h"

#include <vector>

namespace trainc {

/// A tensor of an export.
struct ExportPair {
  const WeightTensor *source; ///< its elements: of the checkpoint, or `like` for a buffer
  const WeightTensor *like;   ///< its name and type
};

/// Pairs each tensor of `like` with one of `source`, in the order of `like`. `source` may have the base
/// model's names with one prefix more or less. Buffers of `like` are paired with themselves; its
/// `lm_head.weight` with the embedding if `source` has no head and both are equal in `like`. Fails with
/// kInvalidInput if a tensor of either side has no partner or another shape. `likePath` is for
/// messages.
Result<std::vector<ExportPair>> pairTensors(const WeightFiles &source, const WeightFiles &like,
                                            const std::filesystem::path &likePath);

} // namespace trainc
