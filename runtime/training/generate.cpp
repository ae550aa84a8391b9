#include "runtime/training/generate.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/input_file.h"
#include "base/json_text.h"
#include "base/units.h"
#include "plan/schema/entry_names.h"
#include "plan/simulate/plan_schedule.h"
#include "runtime/data/philox.h"
#include "runtime/training/end_tokens.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace trainc {

void Sampler::read(std::span<const uint32_t> tokens) {
  for (const uint32_t token : tokens) {
    if (token >= occurs_.size())
      occurs_.resize(token + size_t{1});
    occurs_[token] = true;
  }
}

Status Sampler::readLogits(std::span<const float> logits) {
  for (size_t i = 0; i < logits.size(); ++i)
    if (std::isnan(logits[i]) || logits[i] == std::numeric_limits<float>::infinity())
      return failed("generation: the logit of token {} is {}; the weights have diverged or are damaged", i,
                    logits[i]);
  logits_.assign(logits.begin(), logits.end());
  if (std::ranges::max(logits_) == -std::numeric_limits<float>::infinity())
    return failed("generation: the logits of all tokens are -inf; the weights have diverged or are damaged");
  // The penalty is computed in f32, as in transformers, so that greedy choices are the same.
  const auto penalty = static_cast<float>(options_.repetitionPenalty);
  if (penalty != 1)
    for (size_t i = 0; i < std::min(logits_.size(), occurs_.size()); ++i)
      if (occurs_[i])
        logits_[i] = logits_[i] < 0 ? logits_[i] * penalty : logits_[i] / penalty;
  return {};
}

Result<uint32_t> Sampler::sample(std::span<const float> logits) {
  TRAINC_RETURN_IF_ERROR(readLogits(logits));
  uint32_t token = 0;
  if (options_.temperature == 0) {
    token = static_cast<uint32_t>(std::ranges::max_element(logits_) - logits_.begin());
  } else {
    selectCandidates();
    double sum = 0;
    for (const TokenCandidate &each : candidates_)
      sum += each.weight;
    const double target = uniform() * sum;
    double reached = 0;
    token = candidates_.back().token; // rounding may make the target equal to the sum
    for (const TokenCandidate &each : candidates_)
      if ((reached += each.weight) > target) {
        token = each.token;
        break;
      }
  }
  read(std::span(&token, 1));
  return token;
}

std::span<const TokenCandidate> Sampler::candidates(std::span<const float> logits) {
  if (!readLogits(logits).ok())
    return {};
  selectCandidates();
  return candidates_;
}

void Sampler::selectCandidates() {
  const double best = std::ranges::max(logits_);
  candidates_.clear();
  for (uint32_t token = 0; token < logits_.size(); ++token)
    candidates_.push_back({token, std::exp((logits_[token] - best) / options_.temperature)});
  const bool hasTopK = options_.topK > 0 && options_.topK < logits_.size();
  if (hasTopK || options_.topP < 1) {
    const auto end = candidates_.begin() + static_cast<ptrdiff_t>(hasTopK ? options_.topK : logits_.size());
    std::partial_sort(candidates_.begin(), end, candidates_.end(),
                      [&](const TokenCandidate &a, const TokenCandidate &b) {
                        const float first = logits_[a.token], second = logits_[b.token];
                        return first != second ? first > second : a.token < b.token;
                      });
    candidates_.erase(end, candidates_.end());
  }
  if (options_.topP < 1)
    applyTopP();
  // The weight of the most likely token is 1.
  std::erase_if(candidates_, [&](const TokenCandidate &each) { return each.weight < options_.minP; });
}

void Sampler::applyTopP() {
  double sum = 0, leftOut = 0;
  for (const TokenCandidate &each : candidates_)
    sum += each.weight;
  while (candidates_.size() > 1) {
    leftOut += candidates_.back().weight;
    if (leftOut > (1 - options_.topP) * sum)
      return;
    candidates_.pop_back();
  }
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

double predictedSecondsOf(const fb::Plan &plan, std::string_view name) {
  double seconds = 0;
  for (const fb::Entry *entry : *plan.entries())
    if (entry->name()->string_view() == name)
      for (const fb::Instruction *instruction : *entry->instructions())
        seconds += predictedSeconds(*instruction);
  return seconds;
}

} // namespace

Generator::Generator(Executor &executor, uint64_t context, uint64_t vocabulary)
    : executor_(executor), context_(context),
      prefillSeconds_(predictedSecondsOf(executor.plan(), kPrefillEntry)),
      decodeSeconds_(predictedSecondsOf(executor.plan(), kDecodeEntry)), tokens_(context),
      logits_(vocabulary) {}

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
  Generator generator(executor, generation->context(), generation->vocabulary());
  TRAINC_RETURN_IF_ERROR(generator.clearCaches());
  return generator;
}

Status Generator::run(std::vector<uint32_t> sequence, uint64_t maxTokens, Sampler &sampler,
                      const std::function<bool(uint32_t)> &onToken) {
  TRAINC_RETURN_IF_ERROR(check(sequence));
  sampler.read(sequence);
  TRAINC_RETURN_IF_ERROR(read(sequence));
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
    TRAINC_RETURN_IF_ERROR(read(sequence));
  }
  return {};
}

Status Generator::clearCaches() {
  const auto &buffers = *executor_.plan().buffers();
  std::vector<std::byte> zeros; // must live until synchronise()
  for (const fb::Buffer *buffer : buffers)
    if (buffer->role() == fb::Role::Cache)
      zeros.resize(std::max(zeros.size(), size_t{buffer->bytes()}));
  for (uint32_t i = 0; i < buffers.size(); ++i)
    if (buffers.Get(i)->role() == fb::Role::Cache)
      executor_.write(executor_.buffer(i), std::span(zeros).first(buffers.Get(i)->bytes()));
  return executor_.synchronise();
}

/// Prefill takes the same time for any number of tokens. So a short sequence is decoded token by token
/// instead, if that is predicted to be faster.
Status Generator::read(std::span<const uint32_t> tokens) {
  if (static_cast<double>(tokens.size()) * decodeSeconds_ >= prefillSeconds_)
    return prefill(tokens);
  for (size_t i = 0; i < tokens.size(); ++i)
    TRAINC_RETURN_IF_ERROR(decode(tokens[i], i));
  return {};
}

Status Generator::check(std::span<const uint32_t> prompt, std::string_view origin) const {
  if (prompt.empty())
    return invalidInput("{}: the prompt is empty; give at least one token of text", origin);
  if (prompt.size() > context_)
    return invalidInput("{}: the prompt has {} tokens, the plan's context holds {}; shorten the prompt",
                        origin, prompt.size(), context_);
  for (size_t i = 0; i < prompt.size(); ++i)
    if (prompt[i] >= vocabulary())
      return invalidInput("{}: token {} of the prompt is {}, beyond the model's vocabulary of {}; use the "
                          "tokenizer that the model was trained with",
                          origin, i, prompt[i], vocabulary());
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

/// Prompts of --generate and --prompts with their origins, for messages.
Result<std::vector<std::pair<std::string, std::string>>> readPrompts(const RunOptions &options) {
  std::vector<std::pair<std::string, std::string>> prompts;
  for (const std::string &text : options.generate)
    prompts.emplace_back(text, "--generate");
  if (options.prompts.empty())
    return prompts;
  TRAINC_ASSIGN_OR_RETURN(const std::string content, readWholeFile(options.prompts));
  size_t number = 0;
  for (std::string_view rest = content; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    const std::string origin = fmt::format("--prompts: {}:{}", options.prompts, ++number);
    if (line.empty())
      return invalidInput("{}: expected a prompt in each line, found an empty line; remove it", origin);
    prompts.emplace_back(std::string(line), origin);
  }
  if (number == 0)
    return invalidInput("--prompts={}: expected a prompt in each line, found an empty file", options.prompts);
  return prompts;
}

/// Whether the first line of a file's `content` is a generated text in the form that jsonLines() writes.
bool holdsGenerated(std::string_view content) {
  const nlohmann::json line = tryParseJson(content.substr(0, content.find('\n')));
  return line.is_object() && line.contains("prompt_tokens") && line.contains("prompt_seconds");
}

/// Checks the file of --generated before hours of training: its folder must exist, and an existing file is
/// replaced only if it holds generated texts.
Status checkGenerated(const std::string &file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return invalidInput("--generated={}: expected a file, found a folder, a pipe or a device", file);
  if (std::filesystem::is_regular_file(status) && std::filesystem::file_size(file, error) > 0) {
    const Result<std::string> content = readWholeFile(file);
    if (!content.ok() || !holdsGenerated(*content))
      return invalidInput(
          "--generated={}: the file exists, and holds something else than generated texts; remove it, "
          "or give another name",
          file);
  }
  if (folder.empty() || std::filesystem::is_directory(folder, error))
    return {};
  return invalidInput("--generated={}: there is no folder '{}'; create it, or name another", file,
                      folder.string());
}

} // namespace

Result<std::string> identityOfPrompts(const RunOptions &options) {
  TRAINC_ASSIGN_OR_RETURN(const auto prompts, readPrompts(options));
  StreamHash hash;
  for (const auto &[text, origin] : prompts) {
    const std::string piece = fmt::format("{} {}", text.size(), text);
    hash.update(std::as_bytes(std::span(piece)));
  }
  return fmt::format("{} prompts (checksum {:016x})", prompts.size(), hash.digest());
}

Result<TextGeneration> TextGeneration::open(Executor &executor, const RunOptions &options,
                                            const TrainerState &position) {
  TRAINC_ASSIGN_OR_RETURN(Generator generator, Generator::create(executor));
  TRAINC_ASSIGN_OR_RETURN(ChosenTokenizer chosen, chooseTokenizer(options, position));
  TRAINC_ASSIGN_OR_RETURN(const auto texts, readPrompts(options));
  TRAINC_RETURN_IF_ERROR(checkGenerated(options.generated));
  std::vector<Prompt> prompts;
  const std::vector<uint32_t> &before = chosen.tokenizer->aroundText().before;
  for (const auto &[text, origin] : texts) {
    TRAINC_ASSIGN_OR_RETURN(std::vector<uint32_t> tokens, chosen.tokenizer->encode(text, origin));
    tokens.insert(tokens.begin(), before.begin(), before.end());
    TRAINC_RETURN_IF_ERROR(generator.check(tokens, origin));
    prompts.push_back({text, std::move(tokens)});
  }
  TRAINC_ASSIGN_OR_RETURN(std::vector<uint32_t> ends,
                          findEndTokens(chosen, options, executor.plan(), generator.vocabulary()));
  return TextGeneration(std::move(generator), std::move(chosen.tokenizer), std::move(prompts),
                        std::move(ends), !options.generated.empty() && executor.rank() == 0);
}

Status TextGeneration::runOne(const Prompt &prompt, const RunOptions &options, uint64_t seed,
                              const Observers &observers, const StopRequests &stop, Generated &generated) {
  Sampler sampler({.temperature = options.temperature.value_or(1),
                   .topK = options.topK.value_or(0),
                   .topP = options.topP.value_or(1),
                   .minP = options.minP.value_or(0),
                   .repetitionPenalty = options.repetitionPenalty.value_or(1),
                   .seed = seed});
  const auto print = [&](std::string_view text) { return observers.tell(&RunObserver::onText, text); };
  TextStream text(tokenizer_->decoder());
  for (const uint32_t token : std::span(prompt.tokens).subspan(tokenizer_->aroundText().before.size()))
    text.next(token); // the prompt is printed as given
  text.finish();
  bool &started = generated.started;
  Status &printed = generated.printed;
  const auto add = [&](const std::string &piece) {
    generated.text += piece;
    return print(piece);
  };
  const double begin = steadySeconds();
  double first = begin;
  const Status status = generator_.run(
      prompt.tokens, options.maxTokens.value_or(kDefaultMaxTokens), sampler, [&](uint32_t token) {
        if (!std::exchange(started, true)) {
          first = steadySeconds();
          generated.promptSeconds = first - begin;
          printed = print(prompt.text);
        }
        generated.seconds = steadySeconds() - first;
        generated.ended = std::ranges::find(ends_, token) != ends_.end();
        if (!printed.ok() || generated.ended)
          return false;
        generated.tokens.push_back(token);
        if (!tokenizer_->knows(token))
          generated.strange = token;
        printed = add(tokenizer_->knows(token) ? std::string(text.next(token))
                                               : text.finish() + fmt::format("<|{}|>", token));
        return printed.ok() && !stop.requested();
      });
  if (started && printed.ok())
    printed = add(text.finish());
  if (started && printed.ok())
    printed = print("\n");
  return status;
}

Status TextGeneration::run(const RunOptions &options, uint64_t seed, const Observers &observers,
                           const StopRequests &stop) {
  if (stop.listen)
    stop.listen();
  std::vector<Generated> texts;
  for (const Prompt &prompt : prompts_) {
    if (!texts.empty() && texts.back().printed.ok() && texts.back().started)
      texts.back().printed = observers.tell(&RunObserver::onText, "\n");
    if (!texts.empty()) {
      TRAINC_ASSIGN_OR_RETURN(const bool stops,
                              generator_.anyStops(stop.requested() || !texts.back().printed.ok()));
      if (stops)
        break;
    }
    TRAINC_RETURN_IF_ERROR(runOne(prompt, options, seed, observers, stop, texts.emplace_back()));
  }
  for (const Generated &each : texts)
    if (each.strange) {
      observers.tell(
          &RunObserver::onWarning,
          fmt::format(
              "the tokenizer has no token {0}, which is shown as <|{0}|>: the model's vocabulary of {1} "
              "is larger than the tokenizer's of {2}, or the tokenizer leaves out some ids",
              *each.strange, generator_.vocabulary(), tokenizer_->vocabulary()));
      break;
    }
  if (!texts.empty())
    TRAINC_RETURN_IF_ERROR(texts.back().printed);
  if (writesFile_) {
    const std::string lines = jsonLines(texts);
    TRAINC_RETURN_IF_ERROR(
        writeFileAtomically(options.generated, std::array{std::as_bytes(std::span(lines))}));
  }
  if (stop.requested() || texts.size() < prompts_.size())
    return failed("stopped by {} before the text was done", stop.by());
  tellSpeed(texts, observers);
  return {};
}

std::string TextGeneration::jsonLines(std::span<const Generated> texts) const {
  std::string lines;
  for (size_t i = 0; i < texts.size(); ++i) {
    const nlohmann::json line = {{"prompt", prompts_[i].text}, {"prompt_tokens", prompts_[i].tokens},
                                 {"text", texts[i].text},      {"tokens", texts[i].tokens},
                                 {"ended", texts[i].ended},    {"prompt_seconds", texts[i].promptSeconds},
                                 {"seconds", texts[i].seconds}};
    lines += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return lines;
}

void TextGeneration::tellSpeed(std::span<const Generated> texts, const Observers &observers) const {
  uint64_t tokens = 0, later = 0, promptTokens = 0;
  double seconds = 0, promptSeconds = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    tokens += texts[i].tokens.size();
    later += std::max<uint64_t>(texts[i].tokens.size() + (texts[i].ended ? 1 : 0), 1) - 1;
    promptTokens += prompts_[i].tokens.size();
    seconds += texts[i].seconds;
    promptSeconds += texts[i].promptSeconds;
  }
  if (tokens == 0)
    return;
  const std::string speed =
      later > 0 && seconds > 0 ? fmt::format(", {:.4g} tok/s", static_cast<double>(later) / seconds) : "";
  observers.tell(&RunObserver::onNote,
                 fmt::format("generated {} tokens{}; {} tokens of prompts took {}", tokens, speed,
                             promptTokens, formatDuration(promptSeconds)));
}

} // namespace trainc
