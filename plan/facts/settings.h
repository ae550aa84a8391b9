// Settings that a plan was compiled with.
#pragma once

#include "plan/schema/plan_generated.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// A setting, its value, and the value's origin, e.g. "precision", "bf16", "--precision".
struct Setting {
  std::string setting, value, source;
};

/// Settings in the plan's compile report; missing texts are empty. The report is not verified: returns
/// nothing if it is missing or unknown.
std::vector<Setting> settingsOf(const fb::Plan &plan);

/// Value of a setting, e.g. "bf16" for "precision"; empty if the report lacks it.
std::string settingOf(const fb::Plan &plan, std::string_view setting);

} // namespace trainc
