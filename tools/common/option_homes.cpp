#include "tools/common/option_homes.h"

#include "dialects/Train/ProgramLines.h"
#include "plan/settings/settings.h"
#include "tools/common/foreign_options.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <vector>

namespace trainc {

namespace {

/// Options of trainc compile that are not settings; a test compares all options with --help.
constexpr std::string_view kOtherOfCompile[] = {"compile-to", "dump-ir", "largest-batch", "output", "report"};
constexpr auto kOfTrainrun = std::to_array<std::string_view>({
    "allow-changes",
    "checkpoint-dir",
    "checkpoint-every",
    "comm",
    "comm-timeout",
    "data",
    "data-dtype",
    "device",
    "device-seed",
    "end-token",
    "epochs",
    "eval-data",
    "eval-every",
    "generate",
    "generated",
    "init",
    "init-ignore",
    "init-missing",
    "keep-last",
    "log-level",
    "log-level-replica",
    "log-on-each-node",
    "max-tokens",
    "metrics",
    "min-p",
    "no-config-check",
    "no-shuffle",
    "nproc-per-node",
    "offload-dir",
    "on-nonfinite",
    "peak-flops",
    "profile",
    "prompts",
    "rename",
    "repetition-penalty",
    "resume",
    "seed",
    "steps",
    "temperature",
    "threads",
    "tokenizer",
    "top-k",
    "top-p",
    "trace",
    "trace-steps",
    "trust",
});

struct Line {
  std::string_view name, line;
};

/// Settings that only a line of train.program has.
constexpr Line kLines[] = {
    {"beta1", "optimizer adamw(beta1 0.9)"},
    {"beta2", "optimizer adamw(beta2 0.95)"},
    {"clip", "clip 1.0"},
    {"eps", "optimizer adamw(eps 1e-8)"},
    {"frozen", "group \"wte.*\" frozen"},
    {"lr", "optimizer adamw(lr 1e-3)"},
    {"minimum", "schedule cosine(minimum 1e-5)"},
    {"model", "model @gpt"},
    {"momentum", "optimizer sgd(momentum 0.9)"},
    {"optimizer", "optimizer adamw(lr 1e-3)"},
    {"schedule", "schedule cosine(warmup 100)"},
    {"warmup", "schedule cosine(warmup 100)"},
    {"weight-decay", "optimizer adamw(weight_decay 0.1)"},
};

bool isOneOf(std::span<const std::string_view> options, std::string_view name) {
  return std::ranges::find(options, name) != options.end();
}

constexpr std::string_view kWrite = "write {}",
                           kOfTrainrunAlone = "trainrun decides it. Give {} to trainrun, with the plan";

/// The one who answers, and formats of its answers about options and lines.
struct Speaker {
  Home home;
  std::string_view ofCompile, ofTrainrun, ofProgram;
};

constexpr Speaker kTrainrunSpeaks = {
    Home::kTrainrun, "the plan has decided it. Give {} to trainc compile, and run the new plan", kWrite,
    "the plan has decided it. Write it in the model's train.program, as in `{}`, and compile again"};
constexpr Speaker kCompileSpeaks = {
    Home::kCompile, kWrite, kOfTrainrunAlone,
    "there is no option for it; write it in the model's train.program, as in `{}`"};
constexpr Speaker kProgramSpeaks = {Home::kProgram, "it is an option of trainc compile: {}", kOfTrainrunAlone,
                                    "write `{}`"};

/// The lines of train.program that say the same as the options that `advice` begins with, followed by the
/// rest of `advice`; nothing if an option is not a setting.
std::optional<std::string> adviceAsLines(std::string_view advice) {
  std::string lines;
  while (advice.starts_with("--")) {
    const std::string_view option = advice.substr(2, advice.find_first_of(" ") - 2);
    advice.remove_prefix(std::min(advice.size(), option.size() + 3));
    const size_t end = std::min(option.find('='), option.size());
    std::string word(option.substr(0, end));
    std::ranges::replace(word, '-', '_');
    const train::Setting *setting = train::findSetting(word);
    if (!setting)
      return std::nullopt;
    if (const train::FormerWord *former = train::findFormerWord(word)) // `batch` says it
      return std::string(former->remark);
    const std::string_view value = end < option.size() ? option.substr(end + 1) : "VALUE";
    const std::string_view quote = setting->isList() ? "\"" : "";
    lines += fmt::format("{}`{} {}{}{}`", lines.empty() ? "write " : " and ", word, quote, value, quote);
  }
  return advice.empty() ? lines : fmt::format("{} {}", lines, advice);
}

/// Answers that the options `advice` of trainc compile, or of trainrun, decide it.
std::string answerOf(Home home, std::string_view advice, const Speaker &speaker) {
  if (speaker.home == Home::kProgram)
    if (std::optional<std::string> lines = adviceAsLines(advice))
      return *lines;
  return fmt::format(fmt::runtime(home == Home::kCompile ? speaker.ofCompile : speaker.ofTrainrun), advice);
}

std::string answerTo(const ForeignOption &option, std::string_view value, const Speaker &speaker) {
  const bool isDecision = option.home != Home::kNobody && option.home != Home::kNeedless;
  if (isDecision && option.value.empty() && isOff(value))
    return fmt::format("leave it out; `{}` would turn it on", option.advice);
  switch (option.home) {
  case Home::kProgram:
    return fmt::format(fmt::runtime(speaker.ofProgram), option.advice);
  case Home::kNobody:
    return fmt::format("there is no such thing here yet; {}", option.advice);
  case Home::kNeedless:
    return fmt::format("it is not needed here: {}", option.advice);
  case Home::kTrainrun:
  case Home::kCompile:
    break;
  }
  return answerOf(option.home, option.advice, speaker);
}

std::string answerTo(const train::FormerWord &former, const Speaker &speaker) {
  const train::Setting *setting = train::findSetting(former.setting);
  if (!setting)
    return fmt::format("it is no longer an option: {}", former.remark);
  if (former.value.empty())
    return answerOf(Home::kCompile, setting->option(), speaker);
  const std::string option = fmt::format("{}={}", setting->option(), former.value);
  return speaker.home == Home::kCompile
             ? fmt::format("it is no longer an option; give {}{}", option, former.remark)
             : answerOf(Home::kCompile, option, speaker);
}

std::optional<std::string> homeOf(std::string_view option, std::string_view value, const Speaker &speaker) {
  std::string name(option);
  std::ranges::replace(name, '_', '-');
  const ForeignOption *foreign = findForeignOption(name, value);
  if (foreign && !foreign->value.empty())
    return answerTo(*foreign, value, speaker);
  if (const auto *line = std::ranges::find(kLines, name, &Line::name); line != std::end(kLines))
    return fmt::format(fmt::runtime(speaker.ofProgram), line->line);
  const std::string written = "--" + name;
  for (const auto &[home, options] :
       {std::pair(Home::kCompile, optionsOfCompile()), std::pair(Home::kTrainrun, optionsOfTrainrun())}) {
    if (!isOneOf(options, name))
      continue;
    if (home == speaker.home && name == option) // with a single dash if it is written as it is called
      return std::nullopt;
    return answerOf(home, written, speaker);
  }
  std::string word = name;
  std::ranges::replace(word, '-', '_');
  if (const train::FormerWord *former = train::findFormerWord(word))
    return answerTo(*former, speaker);
  return foreign ? std::optional(answerTo(*foreign, value, speaker)) : std::nullopt;
}

} // namespace

std::span<const std::string_view> optionsOfCompile() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all(std::begin(kOtherOfCompile), std::end(kOtherOfCompile));
    for (const train::Setting *setting : train::kSettings)
      if (setting->hasOption)
        all.push_back(setting->option().substr(2));
    std::ranges::sort(all);
    return all;
  }();
  static const std::vector<std::string_view> views(names.begin(), names.end());
  return views;
}
std::span<const std::string_view> optionsOfTrainrun() { return kOfTrainrun; }

std::optional<std::string> homeOutsideTrainrun(std::string_view option, std::string_view value) {
  return homeOf(option, value, kTrainrunSpeaks);
}

std::optional<std::string> homeOutsideCompile(std::string_view option, std::string_view value) {
  return homeOf(option, value, kCompileSpeaks);
}

std::optional<std::string> homeOutsideProgram(std::string_view word, std::string_view value) {
  return homeOf(word, value, kProgramSpeaks);
}

std::optional<std::string> homeOfForeignValue(std::string_view setting, std::string_view value) {
  std::string name(setting);
  std::ranges::replace(name, '_', '-');
  const ForeignOption *foreign = findForeignOption(name, value);
  return foreign && !foreign->value.empty() ? std::optional(answerTo(*foreign, value, kProgramSpeaks))
                                            : std::nullopt;
}

} // namespace trainc
