#include "tools/trainc/SettingsCli.h"

#include "plan/settings/lists.h"
#include "plan/settings/settings.h"
#include "plan/settings/sizes.h"
#include "tools/common/answer.h"
#include "tools/common/option_homes.h"
#include "tools/common/validators.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace trainc {

using train::Setting;
using train::ValueKind;

namespace {

/// Accepts a size of at least `min` bytes; with 1, a size of memory.
CLI::Validator bytesFrom(int64_t min) {
  return {[min](std::string &text) {
            const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
            const std::string number = text.substr(0, end), unit = text.substr(end);
            if (const std::string_view meant = train::meantUnit(unit);
                train::bytesOf(number, meant) && !meant.empty())
              return fmt::format("expected KiB, MiB, GiB or TiB (powers of 1024), found '{}'; write {}{}",
                                 text, number, meant);
            const std::optional<int64_t> bytes = train::bytesOf(number, unit);
            if (!bytes)
              return fmt::format(
                  "expected {}, found '{}'{}", train::kExpectedBytes, text,
                  inPlainDigits(text, double(min == 1 ? train::kPlainBytes : min), double(INT64_MAX)));
            if (std::string problem = min == 1 ? train::findMissingUnit(number, unit, *bytes) : "";
                !problem.empty())
              return problem;
            if (*bytes < min)
              return fmt::format("expected at least {} bytes, found '{}'", min, text);
            text = std::to_string(*bytes);
            return std::string();
          },
          ""};
}

/// Accepts a comma-separated subset of the words, in any case.
CLI::Validator someOfWords(const Setting &list) {
  return {[&list, known = oneOfWords(list.words())](std::string &text) {
            const auto elements = train::elementsOf(text);
            std::vector<std::string> given(elements.begin(), elements.end());
            for (std::string &word : given)
              if (std::string error = known(word); !error.empty())
                return error;
            text = fmt::format("{}", fmt::join(given, ","));
            return train::tidyList(list, text);
          },
          ""};
}

/// Answers values that other programs give to an option of the same name, as in `--offload=nvme`.
CLI::Validator withForeignValues(const Setting &setting, CLI::Validator known) {
  return {[&setting, known = std::move(known)](std::string &text) {
            const std::string given = text;
            std::string error = known(text);
            const std::optional<std::string> home =
                error.empty() ? std::nullopt : homeOutsideCompile(setting.option().substr(2), given);
            return home ? fmt::format("{}; {}", error.substr(0, error.find("; did you mean")), *home) : error;
          },
          ""};
}

CLI::Validator validatorOf(const Setting &setting) {
  switch (setting.kind) {
  case ValueKind::Number:
    return wholeNumber<int64_t>(setting.min, setting.max);
  case ValueKind::Bytes:
    return bytesFrom(setting.min);
  case ValueKind::Choice:
    return withForeignValues(setting, oneOfWords(setting.words()));
  case ValueKind::Words:
    return withForeignValues(setting, someOfWords(setting));
  case ValueKind::Fraction:
    return {[](std::string &text) {
              return train::fractionIn(text)
                         ? std::string()
                         : fmt::format("expected {}, found '{}'", train::kExpectedFraction, text);
            },
            ""};
  case ValueKind::Wrap:
  case ValueKind::Names: // names of blocks and parameters, which the compiler checks
  case ValueKind::Shares:
    return {[&setting](std::string &text) { return train::tidyList(setting, text); }, ""};
  }
  return CLI::Validator();
}

/// The settings that most command lines need, in the order of --help.
constexpr const Setting *kCommonSettings[] = {
    &train::kMicroBatch, &train::kSeqLen,    &train::kAccumulate,
    &train::kPrecision,  &train::kTarget,    &train::kMemoryLimit,
    &train::kRanks,      &train::kZeroStage, &train::kActivationCheckpointing};

bool isCommon(const Setting *setting) { return std::ranges::count(kCommonSettings, setting) > 0; }

/// Settings that have an option, in the order of --help.
std::vector<const Setting *> settingsInOrder() {
  std::vector<const Setting *> settings(std::begin(kCommonSettings), std::end(kCommonSettings));
  for (const train::ThemeNames &theme : train::kThemes)
    for (const Setting *setting : train::kSettings)
      if (setting->theme == theme.theme && setting->hasOption && !isCommon(setting))
        settings.push_back(setting);
  return settings;
}

} // namespace

CLI::Validator someBytes() { return bytesFrom(1); }

CLI::Option *addSetting(CLI::App &command, const Setting &setting, std::string &value, std::string help) {
  return command.add_option(setting.option(), value, std::move(help))
      ->transform(validatorOf(setting))
      ->type_name(std::string(setting.values))
      ->capture_default_str();
}

void addSettings(CLI::App &compile, std::vector<train::GivenSetting> &given) {
  for (const Setting *setting : settingsInOrder()) {
    auto take = [&given, setting](const std::string &value) {
      given.push_back({std::string(setting->name), value});
    };
    compile.add_option_function<std::string>(setting->option(), take, setting->description())
        ->transform(validatorOf(*setting))
        ->type_name(std::string(setting->values))
        ->group(isCommon(setting) ? kMostUsed : std::string(train::headingOf(setting->theme)));
  }
}

} // namespace trainc
