#include "tools/report/settings.h"

#include "base/units.h"
#include "dialects/Train/ProgramWords.h"
#include "dialects/Train/Sizes.h"

#include <algorithm>
#include <fmt/format.h>

namespace trainc::report {

/// Null if the word is unknown: a part of the program, or a word of another version.
static const train::ProgramWord *findWord(std::string_view word) {
  const auto *found = std::ranges::find(train::kProgramWords, word, &train::ProgramWord::word);
  return found == std::end(train::kProgramWords) ? nullptr : found;
}

/// Bytes of "16MiB" or "16777216".
static std::optional<uint64_t> sizeOf(std::string_view text) {
  const size_t unit = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::optional<int64_t> bytes = train::bytesOf(text.substr(0, unit), text.substr(unit));
  return bytes ? std::optional(static_cast<uint64_t>(*bytes)) : std::nullopt;
}

static KnownSetting known(Setting setting) {
  const train::ProgramWord *word = findWord(setting.setting);
  const bool isSize = word && word->kind == train::ValueKind::Bytes;
  const bool isDefault =
      setting.source == "default" ||
      (word && !word->derived.empty() && setting.source == fmt::format("derived: {}", word->derived));
  const std::optional<uint64_t> bytes = isSize ? sizeOf(setting.value) : std::nullopt;
  return {std::move(setting), bytes, isDefault};
}

std::string KnownSetting::shown() const { return bytes ? formatBytes(*bytes) : value; }

std::vector<KnownSetting> knownSettingsOf(const fb::Plan &plan) {
  std::vector<KnownSetting> settings;
  for (Setting &each : settingsOf(plan))
    settings.push_back(known(std::move(each)));
  return settings;
}

} // namespace trainc::report
