// Text generation: sampling of tokens, the plan's entries, and a tokenizer.
#pragma once

#include "base/status.h"
#include "runtime/exec/executor.h"
#include "runtime/training/observer.h"
#include "runtime/training/options.h"
#include "runtime/training/ordered_output.h"
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

/// A token sequence to continue.
struct Continuation {
  std::vector<uint32_t> prompt;
  uint64_t maxTokens = 0; ///< maximum number of tokens to generate
  Sampler sampler;
  /// Called with each token. The sequence ends on all ranks once it returns false on one.
  std::function<bool(uint32_t)> onToken;
  std::function<void()> onEnd = [] {}; ///< called when the sequence has ended
};

/// Continues token sequences with the weights in the executor, several at once. Each has a slot of the plan's
/// caches.
class Generator {
public:
  /// Fails with kInvalidInput if the plan cannot generate.
  static Result<Generator> create(Executor &executor);

  /// Context length: maximum number of tokens that the model sees.
  uint64_t context() const { return context_; }
  uint64_t vocabulary() const { return vocabulary_; }

  /// Fails with kInvalidInput if `prompt` is empty, longer than context(), or contains a token beyond
  /// vocabulary(). `origin` is for messages.
  Status check(std::span<const uint32_t> prompt, std::string_view origin = "--generate") const;

  /// Continues the sequences that `next` returns, until it returns none: as many at once as the plan has
  /// slots. A sequence that ends gives its slot to the next one; `next` may be called again after it has
  /// returned none. The tokens of a sequence do not depend on the other sequences. When a sequence fills the
  /// context, its older half is dropped and the rest is read again. Calls `stops` when a sequence has ended,
  /// and while prompts are read. All sequences end once it returns true on one rank. Returns
  /// false then, and true if all sequences came to their ends. All
  /// ranks must pass the same sequences. Fails with kInvalidInput if check() rejects a prompt, with kFailed
  /// on non-finite logits, and like Executor::run().
  Result<bool> run(
      const std::function<std::optional<Continuation>()> &next,
      const std::function<bool()> &stops = [] { return false; });

private:
  /// A sequence in a slot.
  struct Sequence {
    Continuation given;
    std::vector<uint32_t> tokens; ///< those that the model still sees
    uint64_t read = 0;            ///< number of tokens in the cache
    uint64_t drawn = 0;           ///< number of generated tokens

    bool isRead() const { return read == tokens.size(); }
  };
  using Slots = std::vector<std::optional<Sequence>>;

  Generator(Executor &executor, const fb::Generation &generation);
  /// Zeroes the caches: masked rows have no weight, but 0 * NaN is NaN.
  Status clearCaches();
  /// Gives each free slot the next sequence; returns whether any slot has one.
  Result<bool> fill(Slots &slots, const std::function<std::optional<Continuation>()> &next) const;
  bool isPrefillFaster(const Sequence &sequence) const;
  /// Reads the tokens of the sequence in a slot.
  Status prefill(Sequence &sequence, size_t slot);
  /// Reads one more token of each sequence.
  Status decode(Slots &slots);
  /// Draws the next token of a sequence that is read; returns whether it goes on.
  Result<bool> draw(Sequence &sequence, size_t slot);
  /// Runs an entry on `tokens_`, and reads the logits.
  Status run(std::string_view entry, size_t tokens);

  Executor &executor_;
  uint64_t context_, vocabulary_;
  double prefillSeconds_, decodeSeconds_; ///< as predicted in the plan; 0 if unknown
  // Staging buffers: the input of an entry, and for each slot a position and a row of logits.
  std::vector<int32_t> tokens_, positions_;
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

  /// Continues the prompts with the weights in the executor, as many at once as the plan does, and passes the
  /// texts, including the prompts, to `observers` in their order. A text does not depend on the other
  /// prompts. Rank 0 writes --generated. Fails with kFailed if a stop request ends the generation.
  Status run(const RunOptions &options, uint64_t seed, const Observers &observers, const StopRequests &stop);

private:
  struct Prompt {
    std::string text;
    std::vector<uint32_t> tokens;
  };
  /// A text that is generated. Times are in steadySeconds().
  struct Generated {
    TextStream stream;                 ///< decoder of its tokens
    double begin;                      ///< when its prompt got a slot
    double first = begin;              ///< when its first token was drawn
    double last = begin;               ///< when its last token was drawn
    std::vector<uint32_t> tokens{};    ///< generated tokens, without the end token
    std::string text{};                ///< text of `tokens`
    bool started = false;              ///< whether a token was drawn
    bool ended = false;                ///< whether an end token ended the text
    std::optional<uint32_t> strange{}; ///< a token that the tokenizer does not know
  };

  TextGeneration(Generator generator, std::unique_ptr<Tokenizer> tokenizer, std::vector<Prompt> prompts,
                 std::vector<uint32_t> ends, bool writesFile)
      : generator_(std::move(generator)), tokenizer_(std::move(tokenizer)), prompts_(std::move(prompts)),
        ends_(std::move(ends)), writesFile_(writesFile) {}

  /// Begins the text of a prompt.
  Generated begin(const Prompt &prompt) const;
  /// Adds a token to text `index`; returns whether the text goes on.
  bool addToken(uint32_t token, size_t index, Generated &text, OrderedOutput &output) const;
  /// Ends text `index`.
  static void end(size_t index, Generated &text, OrderedOutput &output);
  void warnOfStrangeToken(std::span<const Generated> texts, const Observers &observers) const;
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
