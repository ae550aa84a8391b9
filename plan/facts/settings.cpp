#include "plan/facts/settings.h"

#include "base/json_text.h"
#include "plan/facts/view.h"

#include <algorithm>

namespace trainc {

namespace {

/// The text under `key`; empty if there is none.
std::string textAt(const nlohmann::json &json, const char *key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

} // namespace

std::vector<Setting> settingsOf(const fb::Plan &plan) {
  std::vector<Setting> settings;
  const nlohmann::json report = tryParseJson(view(plan.report()));
  if (!report.is_object() || !report.contains("settings") || !report["settings"].is_array())
    return settings;
  for (const nlohmann::json &each : report["settings"])
    settings.push_back({textAt(each, "setting"), textAt(each, "value"), textAt(each, "source")});
  return settings;
}

std::string settingOf(const fb::Plan &plan, std::string_view setting) {
  const std::vector<Setting> settings = settingsOf(plan);
  const auto found = std::ranges::find(settings, setting, &Setting::setting);
  return found == settings.end() ? "" : found->value;
}

} // namespace trainc
