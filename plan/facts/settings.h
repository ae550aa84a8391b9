// Settings that a plan was compiled with.
#pragma once

#include "plan/schema/plan_generated.h"
#include "plan/settings/setting.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// A setting, its value, and the value's origin, e.g. "precision", "bf16", "--precision".
struct Setting {
  std::string setting, value, source;
  bool changesNumbers = false; ///< whether a step's numbers depend on it, other than by the order of sums
};

/// Settings in the plan's compile report; missing texts are empty. The report is not verified: returns
/// nothing if it is missing or unknown.
std::vector<Setting> settingsOf(const fb::Plan &plan);

/// A plan's settings as a source of typed keys (plan/settings/setting.h):
/// `kPrecision.of(PlanSettings(plan))`. A value counts as missing if the report lacks it or if it is no value
/// of the setting, such as "none" for a size.
class PlanSettings {
public:
  explicit PlanSettings(const fb::Plan &plan) : settings_(settingsOf(plan)) {}

  /// The setting; null if the report lacks it.
  const Setting *find(std::string_view name) const;

private:
  std::vector<Setting> settings_;
};

/// Whether the user or the compiler set the setting.
bool hasSetting(const PlanSettings &settings, const train::Setting &setting);
std::optional<int64_t> settingNumber(const PlanSettings &settings, const train::Setting &setting);
/// The text belongs to `settings`.
std::optional<std::string_view> settingText(const PlanSettings &settings, const train::Setting &setting);

} // namespace trainc
