// Writes a checkpoint in the form of a given Hugging Face folder: `trainc export`.
#pragma once

#include "runtime/state/weight_writer.h"

namespace trainc {

/// Writes the folder `output`: the weights of `source` under the names, with the types and in the files of
/// the weights in the folder `like`, and copies of `like`'s other files (configuration, tokenizer, chat
/// template). `source` may have the base model's names with one prefix more or less. Buffers of `like`,
/// and parts for pictures that `source` lacks, are copied; its `lm_head.weight` is the embedding if `source`
/// has none and both are equal in `like`.
///
/// If the checkpoint's config.json names another class or another number of labels than `like`'s, the new
/// head is written in place of the old one, all tensors have the names of `source`, and config.json has the
/// new head's keys.
///
/// The written tensors' names, types and shapes are read again and checked. `output` appears only when it is
/// complete. Fails with kInvalidInput if any other tensor of `source` or `like` has no partner, or one of
/// another shape; if `output` exists; or if the models of the two config.json compute different things. Fails
/// with kFailed if `output` cannot be written.
Status exportLike(const WeightSource &source, const std::filesystem::path &like,
                  const std::filesystem::path &output, WeightWriterOptions options);

} // namespace trainc
