// Generation of text: a tokenizer around the generator.
#pragma once

#include "runtime/training/generate.h"
#include "runtime/training/rank.h"
#include "runtime/training/tokenizer_choice.h"

namespace trainc {

/// What --generate asks for. Opened before a training, so that what is wrong with it shows before and not
/// after hours.
class TextGeneration {
public:
  /// Fails (kInvalidInput) where the plan cannot generate, and on a tokenizer or a prompt that does not fit.
  /// `position`: where the run stands, with what checkpoints record.
  static Result<TextGeneration> open(Executor &executor, const RunOptions &options,
                                     const TrainerState &position);

  /// Continues the prompt with the weights that the executor holds; rank 0 writes to standard output. Fails
  /// (kFailed) when a signal ends it.
  Status run(const RunOptions &options, const Rank &rank, uint64_t seed);

private:
  TextGeneration(Generator generator, std::unique_ptr<Tokenizer> tokenizer, std::vector<uint32_t> prompt)
      : generator_(std::move(generator)), tokenizer_(std::move(tokenizer)), prompt_(std::move(prompt)) {}

  Generator generator_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::vector<uint32_t> prompt_;
};

} // namespace trainc
