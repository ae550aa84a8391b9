#include "tools/trainc/SettingsCli.h"

#include "dialects/Train/Lists.h"
#include "dialects/Train/Sizes.h"
#include "tools/common/answer.h"
#include "tools/common/validators.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace trainc {

using train::ProgramWord;
using train::ValueKind;

namespace {

/// Accepts a size of at least `least` bytes; with 1, a size of memory.
CLI::Validator bytesFrom(int64_t least) {
  return {[least](std::string &text) {
            const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
            const std::string number = text.substr(0, end), unit = text.substr(end);
            if (const std::string_view meant = train::meantUnit(unit);
                train::bytesOf(number, meant) && !meant.empty())
              return fmt::format("expected KiB, MiB, GiB or TiB (powers of 1024), found '{}'; write {}{}",
                                 text, number, meant);
            const std::optional<int64_t> bytes = train::bytesOf(number, unit);
            if (!bytes)
              return fmt::format("expected {}, found '{}'", train::kExpectedBytes, text);
            if (std::string problem = least == 1 ? train::findMissingUnit(number, unit, *bytes) : "";
                !problem.empty())
              return problem;
            if (*bytes < least)
              return fmt::format("expected at least {} bytes, found '{}'", least, text);
            text = std::to_string(*bytes);
            return std::string();
          },
          "SIZE"};
}

/// Possible values of a setting of kind Choice or Words.
std::vector<std::string> valuesOf(const ProgramWord &word) {
  return CLI::detail::split(std::string(word.values), '|');
}

/// Accepts a comma-separated subset of the words, in any case.
CLI::Validator someOfWords(const ProgramWord &list) {
  return {[&list, known = oneOfWords(valuesOf(list))](std::string &text) {
            const auto elements = train::elementsOf(text);
            std::vector<std::string> given(elements.begin(), elements.end());
            for (std::string &word : given)
              if (std::string error = known(word); !error.empty())
                return error;
            text = fmt::format("{}", fmt::join(given, ","));
            return train::tidyList(list, text);
          },
          "WORDS"};
}

CLI::Validator validatorOf(const ProgramWord &word) {
  switch (word.kind) {
  case ValueKind::Number:
    return wholeNumber<int64_t>(word.min, word.max);
  case ValueKind::Bytes:
    return bytesFrom(word.min);
  case ValueKind::Choice:
  case ValueKind::Truth:
    return oneOfWords(valuesOf(word));
  case ValueKind::Words:
    return someOfWords(word);
  case ValueKind::Wrap:
  case ValueKind::Names: // names of blocks and parameters, which the compiler checks
  case ValueKind::Shares:
    return {[&word](std::string &text) { return train::tidyList(word, text); }, "LIST"};
  }
  return CLI::Validator();
}

/// The options of settings that most command lines need, in the order of --help.
constexpr std::string_view kCommonOptions[] = {"--micro-batch", "--seq-len",    "--accumulate",
                                               "--precision",   "--target",     "--memory-limit",
                                               "--ranks",       "--zero-stage", "--activation-checkpointing"};

const char *headingOf(train::Theme theme) {
  switch (theme) {
  case train::Theme::Step:
    return "Step";
  case train::Theme::Memory:
    return "Memory";
  case train::Theme::Ranks:
    return "Ranks";
  case train::Theme::Precision:
    return "Precision";
  case train::Theme::Target:
    return "Target";
  }
  return "";
}

/// Settings that have an option, in the order of --help.
std::vector<const ProgramWord *> wordsInOrder() {
  std::vector<const ProgramWord *> words;
  for (const std::string_view option : kCommonOptions)
    words.push_back(std::ranges::find(train::kProgramWords, option, &ProgramWord::option));
  for (const train::Theme theme : {train::Theme::Step, train::Theme::Memory, train::Theme::Ranks,
                                   train::Theme::Precision, train::Theme::Target})
    for (const ProgramWord &word : train::kProgramWords)
      if (word.theme == theme && !word.option.empty() &&
          std::ranges::find(kCommonOptions, word.option) == std::end(kCommonOptions))
        words.push_back(&word);
  return words;
}

} // namespace

CLI::Validator someBytes() { return bytesFrom(1); }

CLI::Validator oneOfWords(std::vector<std::string> words) {
  return {[words = std::move(words)](std::string &text) {
            const std::string word = CLI::detail::to_lower(text);
            if (std::ranges::find(words, word) == words.end())
              return fmt::format("expected one of {}, found '{}'", fmt::join(words, ", "), text);
            text = word;
            return std::string();
          },
          "WORD"};
}

CLI::Option *addSetting(CLI::App &command, std::string_view word, std::string &value, std::string help) {
  const auto *setting = std::ranges::find(train::kProgramWords, word, &ProgramWord::word);
  return command.add_option(std::string(setting->option), value, std::move(help))
      ->transform(validatorOf(*setting))
      ->type_name(std::string(setting->values))
      ->capture_default_str();
}

void addSettings(CLI::App &compile, std::vector<train::GivenSetting> &given) {
  for (const ProgramWord *each : wordsInOrder()) {
    const ProgramWord &word = *each;
    auto take = [&given, &word](const std::string &value) {
      given.push_back({std::string(word.word), value});
    };
    CLI::Option *option =
        compile.add_option_function<std::string>(std::string(word.option), take, std::string(word.help));
    const bool isCommon = std::ranges::find(kCommonOptions, word.option) != std::end(kCommonOptions);
    option->transform(validatorOf(word))
        ->type_name(std::string(word.values))
        ->group(isCommon ? kMostUsed : headingOf(word.theme));
    const bool hasWords = word.kind == ValueKind::Choice || word.kind == ValueKind::Words;
    if (hasWords && !word.defaultValue.empty() && !word.ofSharding)
      option->default_str(std::string(word.defaultValue));
  }
}

} // namespace trainc
