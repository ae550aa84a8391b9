// Generation of text: a tokenizer around the generator.
#pragma once

#include "runtime/training/generate.h"
#include "runtime/training/observer.h"
#include "runtime/training/options.h"
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

  /// Continues the prompt with the weights that the executor holds, and tells `observers` of the text, the
  /// prompt included. Fails (kFailed) when a stop ends it.
  Status run(const RunOptions &options, uint64_t seed, const Observers &observers, const StopRequests &stop);

private:
  TextGeneration(Generator generator, std::unique_ptr<Tokenizer> tokenizer, std::vector<uint32_t> prompt)
      : generator_(std::move(generator)), tokenizer_(std::move(tokenizer)), prompt_(std::move(prompt)) {}

  Generator generator_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::vector<uint32_t> prompt_;
};

} // namespace trainc
