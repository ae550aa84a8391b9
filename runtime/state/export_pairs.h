// Pairs the tensors of a checkpoint with those of the model whose names and types its export has.
#pragma once

#include "runtime/formats/weight_files.h"

#include <vector>

namespace trainc {

/// A tensor of an export with its partner.
struct ExportPair {
  const WeightTensor *source; ///< has the elements: of the checkpoint, or of `like` if it was not trained
  const WeightTensor *like;   ///< has the name and the type
};

/// Pairs each tensor of `like` with one of `source`, in the order of `like`. `source` may have the base
/// model's names with one prefix more or less. Buffers of `like`, and parts for pictures that `source` lacks,
/// are paired with themselves; its `lm_head.weight` with the embedding if `source` has no head and both are
/// equal in `like`. Fails with kInvalidInput if a tensor of either side has no partner or another shape.
/// `likePath` is for messages.
Result<std::vector<ExportPair>> pairTensors(const WeightFiles &source, const WeightFiles &like,
                                            const std::filesystem::path &likePath);

/// The tensors of an export whose head is another one than that of `like`.
struct NewHeadPairs {
  std::vector<ExportPair> pairs;
  std::vector<const WeightTensor *> added; ///< of the new head: only in `source`
  std::vector<std::string> dropped;        ///< names of the old head: only in `like`
};

/// Does the same for models with different heads: each side may have tensors of a head that the other side
/// lacks, or has with another number of labels. A tensor of a numbered layer, such as
/// "bert.encoder.layer.0.output.dense.weight", does not belong to a head.
Result<NewHeadPairs> pairTensorsOfNewHead(const WeightFiles &source, const WeightFiles &like,
                                          const std::filesystem::path &likePath, uint64_t labels,
                                          uint64_t oldLabels);

} // namespace trainc
