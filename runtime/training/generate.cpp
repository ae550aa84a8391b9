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

Generator::Generator(Executor &executor, const fb::Generation &generation)
    : executor_(executor), context_(generation.context()), vocabulary_(generation.vocabulary()),
      prefillSeconds_(predictedSecondsOf(executor.plan(), kPrefillEntry)),
      decodeSeconds_(predictedSecondsOf(executor.plan(), kDecodeEntry)),
      tokens_(std::max(generation.context(), generation.batch())), positions_(generation.batch()),
      logits_(generation.batch() * generation.vocabulary()) {}

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
  if (!takesTokens(executor, kPrefillEntry, generation->context()) ||
      !takesTokens(executor, kDecodeEntry, generation->batch()))
    return invalidInput(
        "--generate: plan '{}': expected entries 'prefill' and 'decode' with i32 tokens [1, {}] and "
        "[1, {}] as their only input",
        executor.plan().name()->str(), generation->context(), generation->batch());
  Generator generator(executor, *generation);
  TRAINC_RETURN_IF_ERROR(generator.clearCaches());
  return generator;
}

Result<bool> Generator::run(const std::function<std::optional<Continuation>()> &next,
                            const std::function<bool()> &stops) {
  Slots slots(positions_.size());
  while (true) {
    TRAINC_ASSIGN_OR_RETURN(const bool hasSequence, fill(slots, next));
    if (!hasSequence)
      return true;
    bool hasDrawn = false, hasEnded = false;
    const auto drawOrEnd = [&](size_t slot) -> Status {
      hasDrawn = true;
      TRAINC_ASSIGN_OR_RETURN(const bool goesOn, draw(*slots[slot], slot));
      if (!goesOn) {
        slots[slot]->given.onEnd();
        slots[slot].reset();
        hasEnded = true;
      }
      return {};
    };
    for (size_t slot = 0; slot < slots.size(); ++slot)
      while (slots[slot] && slots[slot]->read == 0 && isPrefillFaster(*slots[slot])) {
        TRAINC_RETURN_IF_ERROR(prefill(*slots[slot], slot));
        TRAINC_RETURN_IF_ERROR(drawOrEnd(slot));
      }
    if (std::ranges::any_of(slots, [](const auto &each) { return each.has_value(); })) {
      TRAINC_RETURN_IF_ERROR(decode(slots));
      for (size_t slot = 0; slot < slots.size(); ++slot)
        if (slots[slot] && slots[slot]->isRead())
          TRAINC_RETURN_IF_ERROR(drawOrEnd(slot));
    }
    if (hasDrawn && !hasEnded)
      continue; // each draw has asked
    TRAINC_ASSIGN_OR_RETURN(const bool stop, executor_.control().anyStops(stops()));
    if (stop)
      return false;
  }
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

Result<bool> Generator::fill(Slots &slots, const std::function<std::optional<Continuation>()> &next) const {
  bool hasSequence = false;
  for (std::optional<Sequence> &slot : slots) {
    while (!slot) {
      std::optional<Continuation> given = next();
      if (!given)
        break;
      TRAINC_RETURN_IF_ERROR(check(given->prompt));
      if (given->maxTokens == 0) {
        given->onEnd();
        continue;
      }
      given->sampler.read(given->prompt);
      std::vector<uint32_t> tokens = given->prompt;
      slot = Sequence{.given = std::move(*given), .tokens = std::move(tokens)};
    }
    hasSequence |= slot.has_value();
  }
  return hasSequence;
}

/// Prefill takes the same time for any number of tokens, and the other slots wait for it. Decode reads a
/// token of each slot. So a short sequence is decoded token by token instead, if its share of the time is
/// predicted to be less. The choice must not depend on other sequences, because prefill and decode may round
/// differently.
bool Generator::isPrefillFaster(const Sequence &sequence) const {
  return static_cast<double>(sequence.tokens.size()) * decodeSeconds_ >=
         static_cast<double>(positions_.size()) * prefillSeconds_;
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

Status Generator::prefill(Sequence &sequence, size_t slot) {
  std::ranges::fill(tokens_, 0);
  std::ranges::copy(sequence.tokens, tokens_.begin());
  sequence.read = sequence.tokens.size();
  positions_[slot] = static_cast<int32_t>(sequence.read - 1);
  executor_.scalars().set("slot", static_cast<int32_t>(slot)); // a plan for one text has no such scalar
  return run(kPrefillEntry, context_);
}

Status Generator::decode(Slots &slots) {
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    // Nothing reads the results of a free slot.
    tokens_[slot] = slots[slot] ? static_cast<int32_t>(slots[slot]->tokens[slots[slot]->read]) : 0;
    positions_[slot] = slots[slot] ? static_cast<int32_t>(slots[slot]->read++) : 0;
  }
  return run(kDecodeEntry, slots.size());
}

Result<bool> Generator::draw(Sequence &sequence, size_t slot) {
  const std::span<const float> logits = std::span(logits_).subspan(slot * vocabulary_, vocabulary_);
  TRAINC_ASSIGN_OR_RETURN(const uint32_t token, sequence.given.sampler.sample(logits));
  TRAINC_ASSIGN_OR_RETURN(const bool stop, executor_.control().anyStops(!sequence.given.onToken(token)));
  if (stop || ++sequence.drawn == sequence.given.maxTokens)
    return false;
  std::vector<uint32_t> &tokens = sequence.tokens;
  tokens.push_back(token);
  if (tokens.size() > context_) {
    tokens.erase(tokens.begin(), tokens.end() - static_cast<ptrdiff_t>((context_ + 1) / 2));
    sequence.read = 0;
  }
  return true;
}

Status Generator::run(std::string_view entry, size_t tokens) {
  executor_.write(executor_.inputs(entry)[0].memory, std::as_bytes(std::span(tokens_).first(tokens)));
  executor_.scalars().setAll("position", std::span<const int32_t>(positions_));
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

TextGeneration::Generated TextGeneration::begin(const Prompt &prompt) const {
  Generated text{.stream = TextStream(tokenizer_->decoder()), .begin = steadySeconds()};
  for (const uint32_t token : std::span(prompt.tokens).subspan(tokenizer_->aroundText().before.size()))
    text.stream.next(token); // the prompt is printed as given
  text.stream.finish();
  return text;
}

bool TextGeneration::addToken(uint32_t token, size_t index, Generated &text, OrderedOutput &output) const {
  text.last = steadySeconds();
  if (!std::exchange(text.started, true)) {
    text.first = text.last;
    output.add(index, prompts_[index].text);
  }
  text.ended = std::ranges::find(ends_, token) != ends_.end();
  if (text.ended)
    return false;
  text.tokens.push_back(token);
  if (!tokenizer_->knows(token))
    text.strange = token;
  const std::string piece = tokenizer_->knows(token) ? std::string(text.stream.next(token))
                                                     : text.stream.finish() + fmt::format("<|{}|>", token);
  text.text += piece;
  output.add(index, piece);
  return true;
}

void TextGeneration::end(size_t index, Generated &text, OrderedOutput &output) {
  if (text.started) {
    const std::string piece = text.stream.finish();
    text.text += piece;
    output.add(index, piece);
  }
  output.end(index);
}

void TextGeneration::warnOfStrangeToken(std::span<const Generated> texts, const Observers &observers) const {
  for (const Generated &each : texts)
    if (each.strange)
      return observers.tell(
          &RunObserver::onWarning,
          fmt::format(
              "the tokenizer has no token {0}, which is shown as <|{0}|>: the model's vocabulary of {1} "
              "is larger than the tokenizer's of {2}, or the tokenizer leaves out some ids",
              *each.strange, generator_.vocabulary(), tokenizer_->vocabulary()));
}

Status TextGeneration::run(const RunOptions &options, uint64_t seed, const Observers &observers,
                           const StopRequests &stop) {
  if (stop.listen)
    stop.listen();
  const Sampler sampler({.temperature = options.temperature.value_or(1),
                         .topK = options.topK.value_or(0),
                         .topP = options.topP.value_or(1),
                         .minP = options.minP.value_or(0),
                         .repetitionPenalty = options.repetitionPenalty.value_or(1),
                         .seed = seed});
  OrderedOutput output(prompts_.size(),
                       [&](std::string_view piece) { return observers.tell(&RunObserver::onText, piece); });
  std::vector<Generated> texts;
  const auto stops = [&] { return stop.requested() || !output.status().ok(); };
  const auto next = [&]() -> std::optional<Continuation> {
    const size_t index = texts.size();
    if (index == prompts_.size())
      return std::nullopt;
    texts.push_back(begin(prompts_[index]));
    return Continuation{
        .prompt = prompts_[index].tokens,
        .maxTokens = options.maxTokens.value_or(kDefaultMaxTokens),
        .sampler = sampler,
        .onToken =
            [&, index](uint32_t token) { return addToken(token, index, texts[index], output) && !stops(); },
        .onEnd = [&, index] { end(index, texts[index], output); }};
  };
  const Result<bool> isDone = generator_.run(next, stops);
  for (size_t index = 0; index < texts.size(); ++index)
    end(index, texts[index], output); // those that an error interrupts
  TRAINC_RETURN_IF_ERROR(isDone.status());
  warnOfStrangeToken(texts, observers);
  TRAINC_RETURN_IF_ERROR(output.status());
  if (writesFile_) {
    const std::string lines = jsonLines(texts);
    TRAINC_RETURN_IF_ERROR(
        writeFileAtomically(options.generated, std::array{std::as_bytes(std::span(lines))}));
  }
  if (stop.requested() || !*isDone)
    return failed("stopped by {} before the text was done", stop.by());
  tellSpeed(texts, observers);
  return {};
}

std::string TextGeneration::jsonLines(std::span<const Generated> texts) const {
  std::string lines;
  for (size_t i = 0; i < texts.size(); ++i) {
    const nlohmann::json line = {{"prompt", prompts_[i].text},
                                 {"prompt_tokens", prompts_[i].tokens},
                                 {"text", texts[i].text},
                                 {"tokens", texts[i].tokens},
                                 {"ended", texts[i].ended},
                                 {"prompt_seconds", texts[i].first - texts[i].begin},
                                 {"seconds", texts[i].last - texts[i].first}};
    lines += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return lines;
}

namespace {

/// Returns the seconds that lie in any of the intervals, which are pairs of a begin and an end.
double coveredSeconds(std::vector<std::pair<double, double>> intervals) {
  std::ranges::sort(intervals);
  double seconds = 0, reached = -std::numeric_limits<double>::infinity();
  for (const auto &[begin, end] : intervals) {
    seconds += std::max(end - std::max(begin, reached), 0.0);
    reached = std::max(reached, end);
  }
  return seconds;
}

} // namespace

void TextGeneration::tellSpeed(std::span<const Generated> texts, const Observers &observers) const {
  uint64_t tokens = 0, later = 0, promptTokens = 0;
  std::vector<std::pair<double, double>> generating, reading;
  for (size_t i = 0; i < texts.size(); ++i) {
    tokens += texts[i].tokens.size();
    later += std::max<uint64_t>(texts[i].tokens.size() + (texts[i].ended ? 1 : 0), 1) - 1;
    promptTokens += prompts_[i].tokens.size();
    generating.emplace_back(texts[i].first, texts[i].last);
    reading.emplace_back(texts[i].begin, texts[i].first);
  }
  if (tokens == 0)
    return;
  const double seconds = coveredSeconds(std::move(generating));
  const std::string speed =
      later > 0 && seconds > 0 ? fmt::format(", {:.4g} tok/s", static_cast<double>(later) / seconds) : "";
  observers.tell(&RunObserver::onNote,
                 fmt::format("generated {} tokens{}; {} tokens of prompts took {}", tokens, speed,
                             promptTokens, formatDuration(coveredSeconds(std::move(reading)))));
}

} // namespace trainc
