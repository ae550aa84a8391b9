#include "runtime/data/tokenizer/json_fields.h"

#include "base/plain_text.h"
#include "runtime/data/tokenizer/unicode.h"

#include <algorithm>

namespace trainc {

using Json = nlohmann::json;

std::string shortened(const Json &json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr size_t kMax = 200;
  if (text.size() <= kMax)
    return text;
  text.resize(kMax);
  return text.substr(0, kMax - unfinishedBytes(text)) + "...";
}

const Json &field(const Json &object, const char *key) {
  static const Json kNull;
  if (!object.is_object())
    return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

bool booleanOf(const Json &object, const char *key, bool absent) {
  const Json &value = field(object, key);
  return value.is_boolean() ? value.get<bool>() : absent;
}

std::string textOf(const Json &object, const char *key) {
  const Json &value = field(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool isOneCharacter(std::string_view text) {
  size_t position = 0;
  return !text.empty() && nextCharacter(text, position) && position == text.size();
}

static bool addSteps(const Json &step, const char *key, std::vector<const Json *> &steps) {
  constexpr size_t kMaxSteps = 1000;
  if (step.is_null())
    return true;
  if (textOf(step, "type") == "Sequence" && field(step, key).is_array())
    return std::ranges::all_of(field(step, key),
                               [&](const Json &inner) { return addSteps(inner, key, steps); });
  steps.push_back(&step);
  return steps.size() <= kMaxSteps;
}

Result<std::vector<const Json *>> stepsOf(const std::string &file, const char *piece, const Json &step,
                                          const char *key) {
  std::vector<const Json *> steps;
  if (!addSteps(step, key, steps))
    return invalidInput("{}: {}: expected fewer than {} steps, found more", file, piece, steps.size());
  return steps;
}

Status unsupported(const std::string &file, std::string_view piece, const Json &found,
                   std::string_view expected) {
  const std::string type = textOf(found, "type");
  return invalidInput("{}: {}: {}{} is not supported; expected {}", file, piece,
                      type.empty() ? "" : printable(type) + " ", shortened(found), expected);
}

} // namespace trainc
