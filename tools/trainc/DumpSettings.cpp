// The settings that a plan was compiled with, from the report that it holds.
#include "runtime/base/json_text.h"
#include "tools/trainc/Dump.h"

#include <algorithm>
#include <fmt/format.h>

namespace trainc {

namespace {

struct Line {
  std::string setting, value, source;
};

/// The report's settings; nothing where it is none of ours.
std::vector<Line> settingsOf(const nlohmann::json &report) {
  std::vector<Line> lines;
  if (!report.is_object() || !report.contains("settings") || !report["settings"].is_array())
    return lines;
  for (const nlohmann::json &each : report["settings"]) {
    const auto text = [&](const char *key) {
      return each.is_object() && each.contains(key) && each[key].is_string() ? each[key].get<std::string>()
                                                                             : std::string();
    };
    lines.push_back({text("setting"), text("value"), text("source")});
  }
  return lines;
}

size_t widest(const std::vector<Line> &lines, std::string Line::*column) {
  size_t width = 0;
  for (const Line &line : lines)
    width = std::max(width, (line.*column).size());
  return width;
}

} // namespace

Result<std::string> dumpSettings(const fb::Plan &plan) {
  const std::vector<Line> lines =
      plan.report() ? settingsOf(tryParseJson(plan.report()->string_view())) : std::vector<Line>();
  if (lines.empty())
    return invalidInput(
        "the plan does not say what it was compiled with; compile it again with this version");
  const size_t settings = widest(lines, &Line::setting),
               values = std::min<size_t>(widest(lines, &Line::value), 48);
  std::string text;
  for (const Line &line : lines)
    text += fmt::format("{:{}}  {:{}}  {}\n", line.setting, settings, line.value, values, line.source);
  return text;
}

} // namespace trainc
