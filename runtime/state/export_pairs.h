// Pairs the tensors of a checkpoint with those of a model whose form the export has.
#pragma once

#include "runtime/formats/weight_files.h"

#include <vector>

namespace trainc {

/// A tensor of an export with its partner.
struct ExportPair {
  const WeightTensor *source; ///< its elements: of the checkpoint, or `like` for what was not trained
  const WeightTensor *like;   ///< its name and type
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

/// Does the same, but lets each side have tensors of a head that the other one lacks, or that has another
/// number of labels. A tensor of a numbered layer, such as "bert.encoder.layer.0.output.dense.weight", is of
/// no head.
Result<NewHeadPairs> pairTensorsOfNewHead(const WeightFiles &source, const WeightFiles &like,
                                          const std::filesystem::path &likePath, uint64_t labels,
                                          uint64_t oldLabels);

} // namespace trainc
