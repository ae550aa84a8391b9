#include "tools/common/option_homes.h"

#include "dialects/Train/ProgramLines.h"
#include "dialects/Train/Settings.h"
#include "tools/common/foreign_options.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <vector>

namespace trainc {

namespace {

/// Options of trainc compile that are no settings; a test compares all options with --help.
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
    "eval-data",
    "eval-every",
    "generate",
    "init",
    "init-ignore",
    "init-missing",
    "keep-last",
    "log-level",
    "log-level-replica",
    "log-on-each-node",
    "max-tokens",
    "metrics",
    "no-config-check",
    "no-shuffle",
    "nproc-per-node",
    "offload-dir",
    "on-nonfinite",
    "peak-flops",
    "profile",
    "resume",
    "seed",
    "steps",
    "temperature",
    "threads",
    "tokenizer",
    "top-k",
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

/// A program of the two, and how it speaks of what the other one and the model's text decide.
struct Speaker {
  Home home;
  std::span<const std::string_view> (*own)(), (*others)();
  std::string_view ofOther, ofProgram; ///< formats of the option or line
};

constexpr Speaker kTrainrunSpeaks = {
    Home::kTrainrun, optionsOfTrainrun, optionsOfCompile,
    "the plan has decided it. Give {} to trainc compile, and run the new plan",
    "the plan has decided it. Write it in the model's train.program, as in `{}`, and compile again"};
constexpr Speaker kCompileSpeaks = {
    Home::kCompile, optionsOfCompile, optionsOfTrainrun,
    "trainrun decides it. Give {} to trainrun, with the plan",
    "there is no option for it; write it in the model's train.program, as in `{}`"};

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
  case Home::kCompile:
  case Home::kTrainrun:
    break;
  }
  return option.home == speaker.home ? fmt::format("write {}", option.advice)
                                     : fmt::format(fmt::runtime(speaker.ofOther), option.advice);
}

std::string answerTo(const train::FormerWord &former, const Speaker &speaker) {
  const train::Setting *setting = train::findSetting(former.setting);
  if (!setting)
    return fmt::format("it is no option any more: {}", former.remark);
  if (former.value.empty())
    return speaker.home == Home::kCompile ? fmt::format("write {}", setting->option())
                                          : fmt::format(fmt::runtime(speaker.ofOther), setting->option());
  const std::string option = fmt::format("{}={}", setting->option(), former.value);
  return speaker.home == Home::kCompile
             ? fmt::format("it is no option any more; give {}{}", option, former.remark)
             : fmt::format(fmt::runtime(speaker.ofOther), option);
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
  if (isOneOf(speaker.others(), name))
    return fmt::format(fmt::runtime(speaker.ofOther), written);
  if (isOneOf(speaker.own(), name)) // with a single dash if it is written as it is called
    return name == option ? std::nullopt : std::optional(fmt::format("write {}", written));
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

} // namespace trainc
