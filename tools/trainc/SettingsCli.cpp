#include "tools/trainc/SettingsCli.h"

#include "tools/common/validators.h"

#include <algorithm>
#include <cctype>
#include <fmt/ranges.h>

namespace trainc {

using train::ProgramWord;
using train::ValueKind;

namespace {

/// Turns "2KiB" into "2048"; false where it is no size above 0.
bool toBytes(std::string &text) {
  if (text.starts_with('0')) // would make it octal
    return false;
  try {
    return CLI::AsSizeValue(false)(text).empty() && kPositive(text).empty();
  } catch (const CLI::ValidationError &) {
    return false;
  }
}

/// "16GB" as "16GiB": CLI11 would take the one for the other, and models refuse it. Others as they are.
std::string withBinaryUnit(std::string text) {
  const bool isDecimal = text.size() > 2 && std::toupper(text.back()) == 'B' &&
                         std::isalpha(text.end()[-2]) && std::toupper(text.end()[-2]) != 'I';
  return isDecimal ? text.insert(text.size() - 1, 1, 'i') : text;
}

const CLI::Validator kBytes(
    [](std::string &text) {
      const std::string given = text, binary = withBinaryUnit(text);
      if (std::string bytes = binary; binary != given && toBytes(bytes))
        return fmt::format("expected KiB, MiB, GiB or TiB (powers of 1024), found '{}'; write {}", given,
                           binary);
      if (toBytes(text))
        return std::string();
      return fmt::format("expected a number of bytes above 0, such as 16GiB, found '{}'", given);
    },
    "SIZE");

/// The words of Choice or Words.
std::vector<std::string> valuesOf(const ProgramWord &word) {
  return CLI::detail::split(std::string(word.values), '|');
}

/// Some of the words, with commas between them, in any case.
CLI::Validator someOfWords(std::vector<std::string> words) {
  return {[known = oneOfWords(std::move(words))](std::string &text) {
            std::vector<std::string> given = CLI::detail::split(text + (text.ends_with(',') ? "," : ""), ',');
            for (std::string &word : given)
              if (std::string error = known(word); !error.empty())
                return error;
            text = fmt::format("{}", fmt::join(given, ","));
            return std::string();
          },
          "WORDS"};
}

CLI::Validator validatorOf(const ProgramWord &word) {
  switch (word.kind) {
  case ValueKind::Number:
    return wholeNumber<int64_t>(word.least, word.most);
  case ValueKind::Bytes:
    return kBytes;
  case ValueKind::Choice:
  case ValueKind::Truth:
    return oneOfWords(valuesOf(word));
  case ValueKind::Words:
    return someOfWords(valuesOf(word));
  case ValueKind::Wrap:
  case ValueKind::Names:
    break; // of blocks and parameters, which the compiler knows
  }
  return CLI::Validator();
}

} // namespace

CLI::Validator someBytes() { return kBytes; }

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

void addSettings(CLI::App &compile, std::vector<train::GivenSetting> &given) {
  for (const ProgramWord &word : train::kProgramWords) {
    if (word.option.empty())
      continue;
    auto take = [&given, &word](const std::string &value) {
      given.push_back({std::string(word.word), value});
    };
    CLI::Option *option =
        compile.add_option_function<std::string>(std::string(word.option), take, std::string(word.help));
    option->transform(validatorOf(word))->type_name(std::string(word.values));
    const bool hasWords = word.kind == ValueKind::Choice || word.kind == ValueKind::Words;
    if (hasWords && !word.otherwise.empty() && !word.ofSharding)
      option->default_str(std::string(word.otherwise));
  }
}

} // namespace trainc
