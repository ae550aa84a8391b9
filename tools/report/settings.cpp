#include "tools/report/settings.h"

#include "base/units.h"
#include "plan/settings/settings.h"
#include "plan/settings/sizes.h"

#include <algorithm>
#include <fmt/format.h>

namespace trainc::report {

static KnownSetting known(Setting setting) {
  // Null if the name is unknown: a part of the program, or a setting of another version.
  const train::Setting *declared = train::findSetting(setting.setting);
  const bool isSize = declared && declared->kind == train::ValueKind::Bytes;
  const bool isDefault =
      setting.source == "default" || (declared && !declared->derived.empty() &&
                                      setting.source == fmt::format("derived: {}", declared->derived));
  const std::optional<uint64_t> bytes = isSize ? train::sizeIn(setting.value) : std::nullopt;
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
