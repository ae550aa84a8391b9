#include "runtime/data/tokenizer/json_fields.h"

#include "runtime/schema/plain_text.h"

#include <iterator>

namespace trainc {

using Json = nlohmann::json;

std::string shortened(const Json &json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr size_t kMax = 200;
  return text.size() <= kMax ? text : text.substr(0, kMax) + "...";
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

std::vector<Json> stepsOf(const Json &step, const char *key) {
  if (step.is_null())
    return {};
  if (textOf(step, "type") != "Sequence" || !field(step, key).is_array())
    return {step};
  std::vector<Json> all;
  for (const Json &inner : field(step, key))
    std::ranges::copy(stepsOf(inner, key), std::back_inserter(all));
  return all;
}

Status unsupported(const std::string &file, std::string_view piece, const Json &found,
                   std::string_view expected) {
  return invalidInput("{}: {}: {} is not supported; expected {}", file, piece, shortened(found), expected);
}

} // namespace trainc
