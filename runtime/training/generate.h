// Text generation: sampling of tokens, the plan's entries, and a tokenizer.
#pragma once

#include "base/status.h"
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
  double topP = 1;        ///< leave out the least likely tokens, of probability 1 - topP together
  double minP = 0;        ///< leave out tokens below this share of the highest probability
  double repetitionPenalty =
      1; ///< divides the positive logits of tokens that occur in the text, and multiplies their negative ones
  uint64_t seed = 0;
};

/// A token that may be drawn.
struct TokenCandidate {
  uint32_t token;
  double weight; ///< its probability is weight / sum of all weights
};

/// Draws tokens from softmax(logits / temperature), changed in the order of transformers' logits processors:
/// repetition penalty, temperature, top-k, top-p, min-p. The n-th draw depends only on the logits, the tokens
/// read, the seed and n (Philox); among equal logits the lower token ranks higher.
class Sampler {
public:
  explicit Sampler(SamplerOptions options) : options_(options) {}

  /// Counts `tokens` as occurring in the text: the prompt. Drawn tokens are counted by sample().
  void read(std::span<const uint32_t> tokens);
  /// Fails with kFailed if the logits contain NaN or +infinity, or nothing but -infinity.
  Result<uint32_t> sample(std::span<const float> logits);
  /// Returns the tokens among which sample() would choose for these `logits`; empty if it would fail. The
  /// temperature must be above 0.
  std::span<const TokenCandidate> candidates(std::span<const float> logits);

private:
  /// Copies the logits to `logits_`, with the repetition penalty.
  Status readLogits(std::span<const float> logits);
  void selectCandidates();
  /// Removes the least likely candidates, as `topP` requires. The most likely candidate must be first.
  void applyTopP();
  /// Uniform in [0, 1), 53 bits.
  double uniform();

  SamplerOptions options_;
  uint64_t draws_ = 0;
  std::vector<bool> occurs_; ///< by token; may be shorter than the vocabulary
  std::vector<float> logits_;
  std::vector<TokenCandidate> candidates_;
};

/// Continues token sequences with the weights in the executor.
class Generator {
public:
  /// Fails with kInvalidInput if the plan cannot generate.
  static Result<Generator> create(Executor &executor);

  /// Context length: maximum number of tokens that the model sees.
  uint64_t context() const { return context_; }
  uint64_t vocabulary() const { return logits_.size(); }

  /// Fails with kInvalidInput if `prompt` is empty, longer than context(), or contains a token beyond
  /// vocabulary(). `origin` is for messages.
  Status check(std::span<const uint32_t> prompt, std::string_view origin = "--generate") const;

  /// Continues `prompt` (1 to context() tokens below vocabulary()) by at most `maxTokens` tokens and calls
  /// `onToken` with each; generation ends on all ranks once it returns false. When the context is full, the
  /// older half of the sequence is dropped and the rest is processed again by prefill. All ranks must pass
  /// the same prompt and sampler. Fails with kFailed on non-finite logits, and like Executor::run().
  Status run(std::vector<uint32_t> prompt, uint64_t maxTokens, Sampler &sampler,
             const std::function<bool(uint32_t)> &onToken);

  /// Whether any rank stops; all ranks call it.
  Result<bool> anyStops(bool stops) { return executor_.control().anyStops(stops); }

private:
  Generator(Executor &executor, uint64_t context, uint64_t vocabulary);
  /// Zeroes the caches: masked rows have no weight, but 0 * NaN is NaN.
  Status clearCaches();
  /// Computes the logits after `tokens`, filling the cache.
  Status read(std::span<const uint32_t> tokens);
  Status prefill(std::span<const uint32_t> tokens);
  /// Computes the logits after `token` at position `index` (from 0); all earlier positions must be in the
  /// cache.
  Status decode(uint32_t token, uint64_t index);
  Status run(std::string_view entry, std::span<const int32_t> tokens, uint64_t position);

  Executor &executor_;
  uint64_t context_;
  double prefillSeconds_, decodeSeconds_; ///< as predicted in the plan; 0 if unknown
  std::vector<int32_t> tokens_;           ///< staging buffer of prefill's input
  std::vector<float> logits_;
};

/// Identifies all prompts of --generate and --prompts, so that ranks can compare them. Fails with
/// kInvalidInput if the file of --prompts cannot be read.
Result<std::string> identityOfPrompts(const RunOptions &options);

/// Text generation for --generate and --prompts. Opened before training, so that errors in the options appear
/// at the start and not after hours.
class TextGeneration {
public:
  /// Fails with kInvalidInput if the plan cannot generate, or if the tokenizer or a prompt does not fit.
  /// `position` is the current position, with the tokenizer that checkpoints record.
  static Result<TextGeneration> open(Executor &executor, const RunOptions &options,
                                     const TrainerState &position);

  /// Continues the prompts one after another with the weights in the executor, and passes the texts,
  /// including the prompts, to `observers`. A text does not depend on the other prompts. Rank 0 writes
  /// --generated. Fails with kFailed if a stop request ends the generation.
  Status run(const RunOptions &options, uint64_t seed, const Observers &observers, const StopRequests &stop);

private:
  struct Prompt {
    std::string text;
    std::vector<uint32_t> tokens;
  };
  /// A text that was generated.
  struct Generated {
    std::vector<uint32_t> tokens;      ///< generated tokens, without the end token
    std::string text;                  ///< text of `tokens`
    bool started = false;              ///< whether the prompt was printed
    bool ended = false;                ///< whether an end token ended the text
    double promptSeconds = 0;          ///< time until the first token
    double seconds = 0;                ///< time from the first token to the last
    std::optional<uint32_t> strange{}; ///< a token that the tokenizer does not know
    Status printed{};                  ///< status of the output to observers
  };

  TextGeneration(Generator generator, std::unique_ptr<Tokenizer> tokenizer, std::vector<Prompt> prompts,
                 std::vector<uint32_t> ends, bool writesFile)
      : generator_(std::move(generator)), tokenizer_(std::move(tokenizer)), prompts_(std::move(prompts)),
        ends_(std::move(ends)), writesFile_(writesFile) {}

  Status runOne(const Prompt &prompt, const RunOptions &options, uint64_t seed, const Observers &observers,
                const StopRequests &stop, Generated &generated);
  /// The texts as JSON lines.
  std::string jsonLines(std::span<const Generated> texts) const;
  void tellSpeed(std::span<const Generated> texts, const Observers &observers) const;

  Generator generator_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::vector<Prompt> prompts_;
  std::vector<uint32_t> ends_;
  bool writesFile_; ///< whether this rank writes --generated
};

} // namespace trainc
