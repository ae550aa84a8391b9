// Writes a checkpoint as a Hugging Face folder that is like another one: `trainc export`.
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
/// The folder is read again, and its tensors are compared with those of `like`. It is complete, or absent.
/// Fails with kInvalidInput if another tensor of either side has no partner or another shape, if `output`
/// exists, or if the config.json of `source` and `like` differ in what they compute; with kFailed if it
/// cannot be written.
Status exportLike(const WeightSource &source, const std::filesystem::path &like,
                  const std::filesystem::path &output, WeightWriterOptions options);

} // namespace trainc
