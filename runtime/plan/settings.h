// What a plan was compiled with.
#pragma once

#include "runtime/schema/plan_generated.h"

#include <string>
#include <string_view>

namespace trainc {

/// The value of a setting, e.g. "bf16" for "precision", from the compile report that the plan holds. Empty
/// where the report does not say: nobody verifies it, so it may be missing or odd.
std::string settingOf(const fb::Plan &plan, std::string_view setting);

} // namespace trainc
