#include "tools/report/settings.h"

#include "base/units.h"
#include "dialects/Train/Settings.h"
#include "dialects/Train/Sizes.h"

#include <algorithm>
#include <fmt/format.h>

namespace trainc::report {

/// Bytes of "16MiB" or "16777216".
static std::optional<uint64_t> sizeOf(std::string_view text) {
  const size_t unit = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::optional<int64_t> bytes = train::bytesOf(text.substr(0, unit), text.substr(unit));
  return bytes ? std::optional(static_cast<uint64_t>(*bytes)) : std::nullopt;
}

static KnownSetting known(Setting setting) {
  // Null if the name is unknown: a part of the program, or a setting of another version.
  const train::Setting *declared = train::findSetting(setting.setting);
  const bool isSize = declared && declared->kind == train::ValueKind::Bytes;
  const bool isDefault =
      setting.source == "default" || (declared && !declared->derived.empty() &&
                                      setting.source == fmt::format("derived: {}", declared->derived));
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
