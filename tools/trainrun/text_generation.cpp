#include "tools/trainrun/text_generation.h"

#include "runtime/data/file_patterns.h"
#include "runtime/data/token_sidecar.h"
#include "runtime/data/tokenizer/tokenizer.h"
#include "tools/trainrun/stop_signal.h"

#include <algorithm>
#include <array>
#include <cstdio>

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

Result<std::unique_ptr<Tokenizer>> chooseTokenizer(const Options &options, const std::string &recorded) {
  std::string name = options.tokenizer;
  if (name.empty()) {
    TRAINC_ASSIGN_OR_RETURN(name, tokenizerOfData(options));
  }
  if (name.empty())
    name = recorded;
  if (name.empty())
    return invalidInput(
        "--generate needs a tokenizer: give --tokenizer=bytes or =FILE; neither --data nor the "
        "checkpoint names one");
  return openTokenizer(name);
}

void write(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

} // namespace

Result<std::string> tokenizerOfData(const Options &options) {
  if (options.data.empty())
    return std::string();
  TRAINC_ASSIGN_OR_RETURN(const std::vector<std::filesystem::path> files, expandPatterns(options.data));
  TRAINC_ASSIGN_OR_RETURN(const std::optional<TokenSidecar> sidecar, readTokenSidecar(files.front()));
  return sidecar ? sidecar->tokenizer.name : std::string();
}

Status generateText(Executor &executor, const Options &options, uint64_t seed, const std::string &recorded) {
  TRAINC_ASSIGN_OR_RETURN(Generator generator, Generator::create(executor));
  TRAINC_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer, chooseTokenizer(options, recorded));
  const std::vector<uint32_t> prompt = tokenizer->encode(*options.generate);
  const std::vector<uint32_t> ends = endTokens(*tokenizer);
  Sampler sampler({options.temperature.value_or(1), options.topK.value_or(0), seed});
  bool started = false;
  Status status =
      generator.run(prompt, options.maxTokens.value_or(kDefaultMaxTokens), sampler, [&](uint32_t token) {
        if (!std::exchange(started, true))
          write(*options.generate);
        if (std::ranges::find(ends, token) != ends.end())
          return false;
        write(tokenizer->bytesOf(token));
        return stopSignal() == nullptr;
      });
  if (started)
    write("\n");
  if (status.ok() && stopSignal())
    return failed("stopped by {} before the text was done", stopSignal());
  return status;
}

} // namespace trainc
