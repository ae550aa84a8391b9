// Text generation: prefill and decode entries around a sampler.
#pragma once

#include "runtime/exec/executor.h"
#include "runtime/training/sampler.h"

#include <functional>

namespace trainc {

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

} // namespace trainc
