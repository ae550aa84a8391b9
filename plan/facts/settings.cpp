#include "plan/facts/settings.h"

#include "base/json_text.h"
#include "plan/facts/view.h"
#include "plan/settings/lists.h"
#include "plan/settings/sizes.h"

#include <algorithm>

namespace trainc {

namespace {

/// The text under `key`; empty if there is none.
std::string textAt(const nlohmann::json &json, const char *key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

bool isTrueAt(const nlohmann::json &json, const char *key) {
  return json.is_object() && json.value(key, nlohmann::json()) == true;
}

} // namespace

std::vector<Setting> settingsOf(const fb::Plan &plan) {
  std::vector<Setting> settings;
  const nlohmann::json report = tryParseJson(view(plan.report()));
  if (!report.is_object() || !report.contains("settings") || !report["settings"].is_array())
    return settings;
  for (const nlohmann::json &each : report["settings"])
    settings.push_back({textAt(each, "setting"), textAt(each, "value"), textAt(each, "source"),
                        isTrueAt(each, "changes_numbers")});
  return settings;
}

const Setting *PlanSettings::find(std::string_view name) const {
  const auto found = std::ranges::find(settings_, name, &Setting::setting);
  return found == settings_.end() ? nullptr : &*found;
}

bool hasSetting(const PlanSettings &settings, const train::Setting &setting) {
  const Setting *found = settings.find(setting.name);
  return found && found->source != "default";
}

std::optional<int64_t> settingNumber(const PlanSettings &settings, const train::Setting &setting) {
  const Setting *found = settings.find(setting.name);
  const std::optional<int64_t> number = !found ? std::nullopt
                                        : setting.kind == train::ValueKind::Bytes
                                            ? train::sizeIn(found->value)
                                            : train::wholeNumberIn(found->value, setting.min);
  return number && *number >= setting.min && *number <= setting.max ? number : std::nullopt;
}

std::optional<std::string_view> settingText(const PlanSettings &settings, const train::Setting &setting) {
  const Setting *found = settings.find(setting.name);
  if (!found)
    return std::nullopt;
  const std::vector<std::string_view> words =
      setting.kind == train::ValueKind::Choice  ? std::vector<std::string_view>{found->value}
      : setting.kind == train::ValueKind::Words ? train::elementsOf(found->value)
                                                : std::vector<std::string_view>();
  const bool isValid = std::ranges::all_of(
      words, [&](std::string_view word) { return setting.indexOf(word) < setting.wordCount(); });
  return isValid ? std::optional<std::string_view>(found->value) : std::nullopt;
}

} // namespace trainc
