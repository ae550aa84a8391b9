// Text: a sampler of tokens, the plan's entries around it, and a tokenizer around those.
#pragma once

#include "runtime/base/status.h"
#include "runtime/exec/executor.h"
#include "runtime/training/observer.h"
#include "runtime/training/options.h"
#include "runtime/training/tokenizer_choice.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace trainc {

struct SamplerOptions {
  double temperature = 1; ///< 0: always the most likely token
  uint64_t topK = 0;      ///< sample among the k most likely tokens; 0: among all
  uint64_t seed = 0;
};

/// Draws tokens from softmax(logits / temperature). The n-th draw depends on the logits, the seed and n alone
/// (Philox); of equal logits the lower token is the more likely one.
class Sampler {
public:
  explicit Sampler(SamplerOptions options) : options_(options) {}

  /// Fails (kFailed) when the logits hold NaN or +infinity.
  Result<uint32_t> sample(std::span<const float> logits);

private:
  /// The candidates, the most likely first where there is a top k.
  void selectCandidates(std::span<const float> logits);
  /// Uniform in [0, 1), 53 bits.
  double uniform();

  SamplerOptions options_;
  uint64_t draws_ = 0;
  std::vector<uint32_t> candidates_;
  std::vector<double> weights_;
};

/// Continues token sequences with the weights that the executor holds.
class Generator {
public:
  /// Fails (kInvalidInput) when the plan does not generate.
  static Result<Generator> create(Executor &executor);

  /// Tokens that the model sees at most.
  uint64_t context() const { return context_; }
  uint64_t vocabulary() const { return logits_.size(); }

  /// Ok, or kInvalidInput: `prompt` has no token, more than context(), or one beyond vocabulary().
  Status check(std::span<const uint32_t> prompt) const;

  /// Continues `prompt` (1 to context() tokens below vocabulary()) by at most `maxTokens` tokens and calls
  /// `onToken` with each; false from it ends the generation, on all ranks. When the context is full the older
  /// half of the sequence is dropped and the rest read anew. All ranks must give the same prompt and
  /// samplers. Fails (kFailed) on logits that are not finite, and as Executor::run() does.
  Status run(std::vector<uint32_t> prompt, uint64_t maxTokens, Sampler &sampler,
             const std::function<bool(uint32_t)> &onToken);

private:
  Generator(Executor &executor, uint64_t context, uint64_t vocabulary);
  /// Computes the logits after `tokens`, all of them anew.
  Status prefill(std::span<const uint32_t> tokens);
  /// Computes the logits after `token`, the index-th of the sequence (from 0), all before it being in the
  /// cache.
  Status decode(uint32_t token, uint64_t index);
  Status run(std::string_view entry, std::span<const int32_t> tokens, uint64_t position);

  Executor &executor_;
  uint64_t context_;
  std::vector<int32_t> tokens_; ///< staging of prefill's input
  std::vector<float> logits_;
};

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
