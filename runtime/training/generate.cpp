#include "runtime/training/generate.h"

#include "plan/schema/entry_names.h"
#include "runtime/data/philox.h"
#include "runtime/training/end_tokens.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainc {

Result<uint32_t> Sampler::sample(std::span<const float> logits) {
  for (size_t i = 0; i < logits.size(); ++i)
    if (std::isnan(logits[i]) || logits[i] == std::numeric_limits<float>::infinity())
      return failed("generation: the logit of token {} is {}; the weights have diverged or are damaged", i,
                    logits[i]);
  const auto best = static_cast<uint32_t>(std::ranges::max_element(logits) - logits.begin());
  if (options_.temperature == 0)
    return best;
  selectCandidates(logits);
  weights_.clear();
  double sum = 0;
  for (const uint32_t token : candidates_) {
    sum += std::exp((static_cast<double>(logits[token]) - logits[best]) / options_.temperature);
    weights_.push_back(sum);
  }
  const double target = uniform() * sum;
  const auto chosen = std::ranges::upper_bound(weights_, target);
  // Rounding may make the target equal to the sum.
  return chosen == weights_.end() ? candidates_.back() : candidates_[chosen - weights_.begin()];
}

void Sampler::selectCandidates(std::span<const float> logits) {
  candidates_.resize(logits.size());
  std::iota(candidates_.begin(), candidates_.end(), 0U);
  if (options_.topK == 0 || options_.topK >= logits.size())
    return;
  const auto likelier = [&](uint32_t a, uint32_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  };
  const auto end = candidates_.begin() + static_cast<ptrdiff_t>(options_.topK);
  std::partial_sort(candidates_.begin(), end, candidates_.end(), likelier);
  candidates_.erase(end, candidates_.end());
}

double Sampler::uniform() {
  const uint64_t n = draws_++;
  const auto bits =
      philox4x32({static_cast<uint32_t>(n), static_cast<uint32_t>(n >> 32), 0, 0},
                 {static_cast<uint32_t>(options_.seed), static_cast<uint32_t>(options_.seed >> 32)});
  const uint64_t random = uint64_t{bits[0]} << 32 | bits[1];
  return static_cast<double>(random >> 11) * 0x1p-53;
}

namespace {

/// Whether the entry has a single input: `tokens` i32 tokens.
bool takesTokens(const Executor &executor, std::string_view entry, uint64_t tokens) {
  const std::span<const InputView> inputs = executor.inputs(entry);
  return inputs.size() == 1 && inputs[0].info->dtype() == fb::DType::I32 &&
         inputs[0].memory.bytes == tokens * sizeof(int32_t);
}

} // namespace

Generator::Generator(Executor &executor, uint64_t context, uint64_t vocabulary)
    : executor_(executor), context_(context), tokens_(context), logits_(vocabulary) {}

Result<Generator> Generator::create(Executor &executor) {
  const fb::Generation *generation = executor.plan().generation();
  if (const flatbuffers::String *reason = executor.plan().no_generation())
    return invalidInput("--generate: plan '{}' cannot generate text: {}", executor.plan().name()->str(),
                        reason->str());
  if (!generation || !executor.hasEntry(kPrefillEntry) || !executor.hasEntry(kDecodeEntry))
    return invalidInput(
        "--generate: plan '{}' has no entries 'prefill' and 'decode'; a model with a column tokens and an "
        "nn.output \"logits\" [batch, length, vocabulary] gets them",
        executor.plan().name()->str());
  if (!takesTokens(executor, kPrefillEntry, generation->context()) || !takesTokens(executor, kDecodeEntry, 1))
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
    TRAINC_ASSIGN_OR_RETURN(const bool stop, executor_.control().anyStops(!onToken(token)));
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
  return run(kPrefillEntry, tokens_, tokens.size() - 1);
}

Status Generator::decode(uint32_t token, uint64_t index) {
  const auto id = static_cast<int32_t>(token);
  return run(kDecodeEntry, std::span(&id, 1), index);
}

Status Generator::run(std::string_view entry, std::span<const int32_t> tokens, uint64_t position) {
  executor_.write(executor_.inputs(entry)[0].memory, std::as_bytes(tokens));
  executor_.scalars().set("position", static_cast<int32_t>(position));
  TRAINC_RETURN_IF_ERROR(executor_.enqueue(entry));
  return executor_.read(std::as_writable_bytes(std::span(logits_)),
                        executor_.buffer(executor_.plan().generation()->logits()));
}

namespace {

constexpr uint64_t kDefaultMaxTokens = 200;

} // namespace

Result<TextGeneration> TextGeneration::open(Executor &executor, const RunOptions &options,
                                            const TrainerState &position) {
  TRAINC_ASSIGN_OR_RETURN(Generator generator, Generator::create(executor));
  TRAINC_ASSIGN_OR_RETURN(ChosenTokenizer chosen, chooseTokenizer(options, position));
  TRAINC_ASSIGN_OR_RETURN(std::vector<uint32_t> prompt,
                          chosen.tokenizer->encode(*options.generate, "--generate"));
  const std::vector<uint32_t> &before = chosen.tokenizer->aroundText().before;
  prompt.insert(prompt.begin(), before.begin(), before.end());
  TRAINC_RETURN_IF_ERROR(generator.check(prompt));
  TRAINC_ASSIGN_OR_RETURN(std::vector<uint32_t> ends,
                          findEndTokens(chosen, options, executor.plan(), generator.vocabulary()));
  return TextGeneration(std::move(generator), std::move(chosen.tokenizer), std::move(prompt),
                        std::move(ends));
}

Status TextGeneration::run(const RunOptions &options, uint64_t seed, const Observers &observers,
                           const StopRequests &stop) {
  Sampler sampler({options.temperature.value_or(1), options.topK.value_or(0), seed});
  const auto print = [&](std::string_view text) { return observers.tell(&RunObserver::onText, text); };
  TextStream text(tokenizer_->decoder());
  for (const uint32_t token : std::span(prompt_).subspan(tokenizer_->aroundText().before.size()))
    text.next(token); // the prompt is printed as given
  text.finish();
  bool started = false;
  std::optional<uint32_t> strange; // a token that the tokenizer does not know
  Status printed;
  if (stop.listen)
    stop.listen();
  const Status status =
      generator_.run(prompt_, options.maxTokens.value_or(kDefaultMaxTokens), sampler, [&](uint32_t token) {
        if (!std::exchange(started, true))
          printed = print(*options.generate);
        if (!printed.ok() || std::ranges::find(ends_, token) != ends_.end())
          return false;
        if (!tokenizer_->knows(token))
          strange = token;
        printed =
            print(tokenizer_->knows(token) ? text.next(token) : text.finish() + fmt::format("<|{}|>", token));
        return printed.ok() && !stop.requested();
      });
  if (started && printed.ok())
    printed = print(text.finish() + "\n");
  if (strange)
    observers.tell(
        &RunObserver::onWarning,
        fmt::format(
            "the tokenizer has no token {0}, which is shown as <|{0}|>: the model's vocabulary of {1} "
            "is larger than the tokenizer's of {2}, or has ids that it does not use",
            *strange, generator_.vocabulary(), tokenizer_->vocabulary()));
  TRAINC_RETURN_IF_ERROR(status);
  TRAINC_RETURN_IF_ERROR(printed);
  if (stop.requested())
    return failed("stopped by {} before the text was done", stop.by());
  return {};
}

} // namespace trainc
