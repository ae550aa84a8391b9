#include "tools/report/page.h"

#include "base/plain_text.h"
#include "tools/report/document.h"
#include "tools/report/page_parts.h"

namespace trainc::report {

/// Returns the value with its texts as terminals show them: a browser obeys characters that reorder what
/// stands around them, and shows others not at all.
static nlohmann::json printableCopy(const nlohmann::json &value) {
  if (value.is_string())
    return printable(value.get_ref<const std::string &>(), "\n\t");
  nlohmann::json copy = value.is_structured() ? nlohmann::json(value.type()) : value;
  if (value.is_array())
    for (const nlohmann::json &each : value)
      copy.push_back(printableCopy(each));
  if (value.is_object())
    for (const auto &[name, each] : value.items())
      copy[printable(name)] = printableCopy(each);
  return copy;
}

/// JSON that cannot contain "</script>" or "<!--": "<" occurs only within its texts, and is escaped.
static std::string scriptText(const nlohmann::json &document) {
  std::string text;
  for (const char character : jsonText(document))
    if (character == '<')
      text += "\\u003c";
    else
      text += character;
  return text;
}

/// Fills the placeholders "{{...}}" of the template.
std::string pageOf(const nlohmann::json &document) {
  const std::string_view frame = pagePart("page.html");
  std::string page;
  for (size_t at = 0; at < frame.size();) {
    const size_t open = frame.find("{{", at), close = frame.find("}}", open);
    page += frame.substr(at, open - at);
    if (open == std::string_view::npos)
      break;
    const std::string_view name = frame.substr(open + 2, close - open - 2);
    page += name == "document" ? scriptText(printableCopy(document)) : std::string(pagePart(name));
    at = close + 2;
  }
  return page;
}

std::string_view pageBeginning() {
  const std::string_view frame = pagePart("page.html");
  return frame.substr(0, frame.find("{{"));
}

} // namespace trainc::report
