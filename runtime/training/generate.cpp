#include "runtime/training/generate.h"

#include <algorithm>

namespace trainc {

namespace {

constexpr std::string_view kPrefill = "prefill", kDecode = "decode";

/// The entry has one input: i32 tokens of that many bytes.
bool takesTokens(const Executor &executor, std::string_view entry, uint64_t tokens) {
  const std::span<const InputView> inputs = executor.inputs(entry);
  return inputs.size() == 1 && inputs[0].info->dtype() == fb::DType::I32 &&
         inputs[0].bytes.size() == tokens * sizeof(int32_t);
}

} // namespace

Generator::Generator(Executor &executor, uint64_t context, uint64_t vocabulary)
    : executor_(executor), context_(context), tokens_(context), logits_(vocabulary) {}

Result<Generator> Generator::create(Executor &executor) {
  const fb::Generation *generation = executor.plan().generation();
  if (const flatbuffers::String *reason = executor.plan().no_generation())
    return invalidInput("--generate: plan '{}' cannot generate text: {}", executor.plan().name()->str(),
                        reason->str());
  if (!generation || !executor.hasEntry(kPrefill) || !executor.hasEntry(kDecode))
    return invalidInput(
        "--generate: plan '{}' has no entries 'prefill' and 'decode'; a model with a column tokens and an "
        "nn.output \"logits\" [batch, length, vocabulary] gets them",
        executor.plan().name()->str());
  if (!takesTokens(executor, kPrefill, generation->context()) || !takesTokens(executor, kDecode, 1))
    return invalidInput(
        "--generate: plan '{}': expected entries 'prefill' and 'decode' with i32 tokens [1, {}] and "
        "[1, 1] as their only input",
        executor.plan().name()->str(), generation->context());
  return Generator(executor, generation->context(), generation->vocabulary());
}

Status Generator::run(std::vector<uint32_t> sequence, uint64_t maxTokens, Sampler &sampler,
                      const std::function<bool(uint32_t)> &onToken) {
  TRAINC_RETURN_IF_ERROR(check(sequence));
  TRAINC_RETURN_IF_ERROR(prefill(sequence));
  for (uint64_t count = 1; count <= maxTokens; ++count) {
    TRAINC_ASSIGN_OR_RETURN(const uint32_t token, sampler.sample(logits_));
    TRAINC_ASSIGN_OR_RETURN(const bool stop, executor_.peers().anyStops(!onToken(token)));
    if (stop || count == maxTokens)
      return {};
    sequence.push_back(token);
    if (sequence.size() <= context_) {
      TRAINC_RETURN_IF_ERROR(decode(token, sequence.size() - 1));
      continue;
    }
    sequence.erase(sequence.begin(), sequence.end() - static_cast<ptrdiff_t>((context_ + 1) / 2));
    TRAINC_RETURN_IF_ERROR(prefill(sequence));
  }
  return {};
}

Status Generator::check(std::span<const uint32_t> prompt) const {
  if (prompt.empty())
    return invalidInput("--generate: the prompt is empty; give at least one token of text");
  if (prompt.size() > context_)
    return invalidInput(
        "--generate: the prompt has {} tokens, the plan's context holds {}; shorten the prompt",
        prompt.size(), context_);
  for (size_t i = 0; i < prompt.size(); ++i)
    if (prompt[i] >= vocabulary())
      return invalidInput(
          "--generate: token {} of the prompt is {}, beyond the model's vocabulary of {}; use the "
          "tokenizer that the model was trained with",
          i, prompt[i], vocabulary());
  return {};
}

Status Generator::prefill(std::span<const uint32_t> tokens) {
  std::ranges::fill(tokens_, 0);
  std::ranges::copy(tokens, tokens_.begin());
  return run(kPrefill, tokens_, tokens.size() - 1);
}

Status Generator::decode(uint32_t token, uint64_t index) {
  const auto id = static_cast<int32_t>(token);
  return run(kDecode, std::span(&id, 1), index);
}

Status Generator::run(std::string_view entry, std::span<const int32_t> tokens, uint64_t position) {
  executor_.device().toDevice(executor_.inputs(entry)[0].bytes.data(), std::as_bytes(tokens));
  executor_.setScalar("position", static_cast<int32_t>(position));
  TRAINC_RETURN_IF_ERROR(executor_.run(entry));
  const std::span<std::byte> logits = executor_.buffer(executor_.plan().generation()->logits());
  executor_.device().fromDevice(std::as_writable_bytes(std::span(logits_)), logits.data());
  return {};
}

} // namespace trainc
