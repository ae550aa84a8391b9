#include "runtime/plan/settings.h"

#include "runtime/base/json_text.h"
#include "runtime/plan/view.h"

namespace trainc {

namespace {

/// The text under `key`; empty where there is none.
std::string textAt(const nlohmann::json &json, const char *key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

} // namespace

std::string settingOf(const fb::Plan &plan, std::string_view setting) {
  const nlohmann::json report = tryParseJson(view(plan.report()));
  if (!report.is_object() || !report.contains("settings") || !report["settings"].is_array())
    return "";
  for (const nlohmann::json &each : report["settings"])
    if (textAt(each, "setting") == setting)
      return textAt(each, "value");
  return "";
}

} // namespace trainc
