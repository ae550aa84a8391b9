#include "runtime/training/text_generation.h"

#include <algorithm>
#include <array>

namespace trainc {

namespace {

constexpr uint64_t kDefaultMaxTokens = 200;

/// What the usual tokenizers call the end of a text.
constexpr std::array<std::string_view, 5> kEndTokens = {"<|endoftext|>", "</s>", "<|end_of_text|>",
                                                        "<|eot_id|>", "<|im_end|>"};

std::vector<uint32_t> endTokens(const Tokenizer &tokenizer) {
  std::vector<uint32_t> ids;
  for (const std::string_view name : kEndTokens)
    if (const std::optional<uint32_t> id = tokenizer.findToken(name))
      ids.push_back(*id);
  return ids;
}

} // namespace

Result<TextGeneration> TextGeneration::open(Executor &executor, const RunOptions &options,
                                            const TrainerState &position) {
  TRAINC_ASSIGN_OR_RETURN(Generator generator, Generator::create(executor));
  TRAINC_ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer, chooseTokenizer(options, position));
  std::vector<uint32_t> prompt = tokenizer->encode(*options.generate);
  TRAINC_RETURN_IF_ERROR(generator.check(prompt));
  return TextGeneration(std::move(generator), std::move(tokenizer), std::move(prompt));
}

Status TextGeneration::run(const RunOptions &options, uint64_t seed, const Observers &observers,
                           const StopRequests &stop) {
  const std::vector<uint32_t> ends = endTokens(*tokenizer_);
  Sampler sampler({options.temperature.value_or(1), options.topK.value_or(0), seed});
  const auto print = [&](std::string_view text) { return observers.tell(&RunObserver::onText, text); };
  bool started = false;
  Status printed;
  if (stop.listen)
    stop.listen();
  const Status status =
      generator_.run(prompt_, options.maxTokens.value_or(kDefaultMaxTokens), sampler, [&](uint32_t token) {
        if (!std::exchange(started, true))
          printed = print(*options.generate);
        if (!printed.ok() || std::ranges::find(ends, token) != ends.end())
          return false;
        printed = print(tokenizer_->bytesOf(token));
        return printed.ok() && !stop.requested();
      });
  if (started && printed.ok())
    printed = print("\n");
  TRAINC_RETURN_IF_ERROR(status);
  TRAINC_RETURN_IF_ERROR(printed);
  if (stop.requested())
    return failed("stopped by {} before the text was done", stop.by());
  return {};
}

} // namespace trainc
