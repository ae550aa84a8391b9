// What a plan was compiled with.
#pragma once

#include "runtime/schema/plan_generated.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// A setting, its value, and where that comes from, e.g. "precision", "bf16", "--precision".
struct Setting {
  std::string setting, value, source;
};

/// The settings in the compile report that the plan holds, with empty texts where it lacks some. Nobody
/// verifies the report: none where it is missing or none of ours.
std::vector<Setting> settingsOf(const fb::Plan &plan);

/// The value of a setting, e.g. "bf16" for "precision"; empty where the report does not say.
std::string settingOf(const fb::Plan &plan, std::string_view setting);

} // namespace trainc
