#include "lib/Import/Config.h"

#include "base/config_defaults.h"
#include "base/config_keys.h"
#include "base/json_text.h"
#include "base/name_pattern.h"
#include "base/plain_text.h"
#include "base/text_config.h"

#include <algorithm>
#include <cmath>

namespace trainc::importer {

using Json = nlohmann::json;

/// Keys on which no computation of an imported model depends, besides kKeysWithoutMath.
static constexpr std::string_view kHarmless[] = {"model_type", "is_decoder", "max_window_layers"};

static bool isHarmless(std::string_view key) {
  const auto matches = [&](std::string_view pattern) { return matchesPattern(pattern, key); };
  return std::ranges::any_of(kKeysWithoutMath, matches) || std::ranges::any_of(kHarmless, matches);
}

/// Maximum characters of a value in the table of uses.
static constexpr size_t kShownValue = 40;

static std::string shown(const Json &value) {
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return printable(text.size() > kShownValue ? text.substr(0, kShownValue) + "..." : text);
}

// --- Uses ---

void KeyUses::add(std::string_view key, const Json &value, Use use) {
  if (keys_.emplace(key).second)
    lines_.push_back({std::string(key), shown(value), use});
}

bool KeyUses::contains(std::string_view key) const { return keys_.contains(key); }

bool KeyUses::containsInner(std::string_view key) const {
  const std::string prefix = std::string(key) + ".";
  const auto found = keys_.lower_bound(prefix);
  return found != keys_.end() && found->starts_with(prefix);
}

std::string KeyUses::describe() const {
  constexpr std::pair<Use, const char *> kGroups[] = {{Use::Taken, "taken"},
                                                      {Use::Derived, "derived"},
                                                      {Use::Defaulted, "defaulted"},
                                                      {Use::Ignored, "ignored"},
                                                      {Use::LeftOut, "left out"}};
  constexpr size_t kColumns = 100, kIndent = 11;
  std::string text;
  for (const auto &[use, name] : kGroups) {
    std::string line = fmt::format("{:<{}}", name, kIndent);
    bool isEmpty = true;
    for (const Line &each : lines_) {
      if (each.use != use)
        continue;
      const std::string entry = printable(each.key) + " " + each.value;
      if (!isEmpty && line.size() + 2 + entry.size() > kColumns) {
        text += line + ",\n";
        line.assign(kIndent, ' ');
      } else if (!isEmpty) {
        line += ", ";
      }
      line += entry;
      isEmpty = false;
    }
    if (!isEmpty)
      text += line + "\n";
  }
  return text;
}

// --- Values ---

static std::string typeOf(const Json &json) {
  const auto type = json.find("model_type");
  return type != json.end() && type->is_string() ? type->get<std::string>() : "";
}

/// Returns the class of a model of pictures and texts, such as "Gemma3ForConditionalGeneration".
static Result<std::string> compositeOf(const std::string &file, const Json &json) {
  if (!isCompositeType(typeOf(json)))
    return invalidInput(
        "{}: a model with a 'text_config' of the family {} (model_type) cannot be imported yet; "
        "known are {}",
        file, printable(typeOf(json)), compositeTypes());
  if (!json["text_config"].is_object())
    return invalidInput("{}: 'text_config': expected an object, found {}", file, shown(json["text_config"]));
  const Json names = json.value("architectures", Json::array());
  constexpr std::string_view kWhole = "ForConditionalGeneration";
  if (names.is_array() && names.size() == 1 && names[0].is_string() &&
      names[0].get<std::string>().ends_with(kWhole))
    return names[0].get<std::string>();
  return invalidInput("{}: 'architectures': expected a class that ends with {}, found {}", file, kWhole,
                      shown(names));
}

Result<Config> Config::parse(std::string file, std::string_view text, Reading reading) {
  TRAINC_ASSIGN_OR_RETURN(Json json, parseJsonOnce(file, text));
  if (!json.is_object())
    return invalidInput("{}: expected a JSON object with the configuration of a model, found {}", file,
                        shown(json));
  if (!json.contains("text_config"))
    return Config(std::move(file), std::move(json), reading);
  TRAINC_ASSIGN_OR_RETURN(std::string composite, compositeOf(file, json));
  Config config(file + " (text_config)", textConfigOf(json), reading);
  config.composite_ = std::move(composite);
  for (const std::string_view key : kPictureKeys)
    if (const auto found = json.find(std::string(key)); found != json.end())
      config.uses_.add(key, *found, Use::LeftOut);
  return config;
}

void Config::fail(const std::string &message) {
  if (status_.ok())
    status_ = invalidInput("{}: {}", file_, message);
}

/// Returns the value of a key such as "rope_scaling.factor"; null if there is none, or if it is JSON's null.
static const Json *findIn(const Json &json, std::string_view key) {
  const Json *value = &json;
  for (size_t begin = 0; begin <= key.size();) {
    const size_t point = std::min(key.find('.', begin), key.size());
    if (!value->is_object())
      return nullptr;
    const auto found = value->find(std::string(key.substr(begin, point - begin)));
    if (found == value->end() || found->is_null())
      return nullptr;
    value = &*found;
    begin = point + 1;
  }
  return value;
}

Config::Config(std::string file, Json json, Reading reading)
    : file_(std::move(file)), json_(std::move(json)), defaults_(classDefaults(typeOf(json_))),
      reading_(reading) {}

bool Config::has(std::string_view key) const { return findIn(json_, key) != nullptr; }

const Json *Config::defaultOf(std::string_view key) const {
  const size_t point = key.find('.');
  return point != std::string_view::npos && has(key.substr(0, point)) ? nullptr : findIn(defaults_, key);
}

bool Config::isNull(std::string_view key) const {
  const auto value = json_.find(std::string(key));
  return value != json_.end() && value->is_null();
}

const Json *Config::take(std::string_view key, const Json *fallback) {
  if (const Json *value = findIn(json_, key)) {
    uses_.add(key, *value, Use::Taken);
    return value;
  }
  const Json *value = defaultOf(key);
  if (!value)
    value = fallback;
  if (value)
    uses_.add(key, *value, Use::Defaulted);
  else
    fail(fmt::format("expected a key '{}'", key));
  return value;
}

void Config::wrong(std::string_view key, const Json &value, std::string_view expected) {
  fail(fmt::format("'{}': expected {}, found {}", key, expected, shown(value)));
}

/// Maximum whole number of a config.
static constexpr int64_t kMaxSize = int64_t(1) << 24;

static std::optional<int64_t> wholeOf(const Json &value, int64_t minimum) {
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(kMaxSize)))
    return std::nullopt;
  const auto number = value.get<int64_t>();
  return number < minimum || number > kMaxSize ? std::nullopt : std::optional(number);
}

int64_t Config::size(std::string_view key, std::optional<int64_t> fallback, int64_t minimum) {
  const Json other = fallback.value_or(1);
  const Json *value = take(key, fallback ? &other : nullptr);
  if (!value)
    return 1;
  if (const auto number = wholeOf(*value, minimum))
    return *number;
  wrong(key, *value, fmt::format("a whole number from {} to {}", minimum, kMaxSize));
  return 1;
}

int64_t Config::sizeOr(std::string_view key, int64_t derived) {
  if (isGiven(key))
    return size(key);
  uses_.add(key, derived, Use::Derived);
  return derived;
}

std::optional<int64_t> Config::sizeIfAny(std::string_view key) {
  return isGiven(key) ? std::optional(size(key)) : std::nullopt;
}

std::optional<double> Config::numberIfAny(std::string_view key) {
  return isGiven(key) ? std::optional(number(key)) : std::nullopt;
}

double Config::number(std::string_view key, std::optional<double> fallback) {
  const Json other = fallback.value_or(1);
  const Json *value = take(key, fallback ? &other : nullptr);
  if (!value)
    return 1;
  if (value->is_number() && std::isfinite(value->get<double>()))
    return value->get<double>();
  wrong(key, *value, "a finite number");
  return fallback.value_or(1);
}

double Config::dropout(std::string_view key, std::optional<double> fallback) {
  if (!reading_.keepsDropout) {
    if (const Json *value = findIn(json_, key))
      uses_.add(key, *value, Use::Ignored);
    return 0;
  }
  const double p = number(key, fallback);
  if (p >= 0 && p < 1)
    return p;
  wrong(key, p, "a probability from 0 to below 1");
  return 0;
}

bool Config::flag(std::string_view key, std::optional<bool> fallback) {
  const Json other = fallback.value_or(false);
  const Json *value = take(key, fallback ? &other : nullptr);
  if (value && value->is_boolean())
    return value->get<bool>();
  if (value)
    wrong(key, *value, "true or false");
  return false;
}

std::string Config::word(std::string_view key, std::optional<std::string_view> fallback) {
  const Json other = std::string(fallback.value_or(""));
  const Json *value = take(key, fallback ? &other : nullptr);
  if (value && value->is_string())
    return value->get<std::string>();
  if (value)
    wrong(key, *value, "a string");
  return "";
}

/// Returns a list, of which `read` reads each element or fails; none if the key is missing or null.
template <typename Element, typename Read>
std::optional<std::vector<Element>> Config::list(std::string_view key, std::string_view expected, Read read) {
  const Json *value = findIn(json_, key);
  if (!value)
    return std::nullopt;
  uses_.add(key, *value, Use::Taken);
  std::vector<Element> result;
  if (value->is_array())
    for (const Json &each : *value)
      if (const std::optional<Element> element = read(each))
        result.push_back(*element);
  if (!value->is_array() || result.size() != value->size())
    wrong(key, *value, expected);
  return result;
}

std::optional<std::vector<std::string>> Config::words(std::string_view key) {
  return list<std::string>(key, "a list of strings", [](const Json &each) {
    return each.is_string() ? std::optional(each.get<std::string>()) : std::nullopt;
  });
}

std::optional<std::vector<int64_t>> Config::wholes(std::string_view key) {
  return list<int64_t>(key, "a list of whole numbers", [](const Json &each) { return wholeOf(each, 0); });
}

std::vector<double> Config::numbers(std::string_view key) {
  const auto found = list<double>(key, "a list of finite numbers", [](const Json &each) {
    return each.is_number() && std::isfinite(each.get<double>()) ? std::optional(each.get<double>())
                                                                 : std::nullopt;
  });
  if (!found)
    fail(fmt::format("expected a key '{}'", key));
  return found.value_or(std::vector<double>());
}

std::optional<int64_t> Config::entries(std::string_view key) {
  const Json *value = findIn(json_, key);
  if (!value)
    return std::nullopt;
  uses_.add(key, *value, Use::Taken);
  if (!value->is_object())
    wrong(key, *value, "an object");
  return int64_t(value->size());
}

bool Config::isObject(std::string_view key) {
  const Json *value = findIn(json_, key);
  if (!value) {
    const Json *usual = defaultOf(key);
    return usual && usual->is_object();
  }
  if (!value->is_object()) {
    uses_.add(key, *value, Use::Taken);
    wrong(key, *value, "an object");
    return false;
  }
  return true;
}

void Config::require(std::string_view key, const Json &expected, std::string_view reason) {
  const Json *value = findIn(json_, key);
  if (!value)
    return;
  uses_.add(key, *value, Use::Taken);
  if (*value != expected)
    fail(fmt::format("'{}' is {}: {}; expected {}", key, shown(*value), reason, shown(expected)));
}

void Config::ignore(std::initializer_list<std::string_view> patterns) {
  for (const auto &[key, value] : json_.items())
    if (std::ranges::any_of(patterns, [&](std::string_view each) { return matchesPattern(each, key); }))
      uses_.add(key, value, Use::Ignored);
}

Status Config::finish() {
  for (const auto &[key, value] : json_.items())
    if (value.is_null() || isHarmless(key))
      uses_.add(key, value, Use::Ignored);
  constexpr size_t kShownKeys = 3;
  std::string unknown;
  size_t unknownCount = 0;
  const auto check = [&](const auto &self, const std::string &key, const Json &value) -> void {
    if (value.is_object() && uses_.containsInner(key)) {
      for (const auto &[inner, innerValue] : value.items())
        self(self, key + "." + inner, innerValue);
    } else if (!uses_.contains(key) && !value.is_null() && ++unknownCount <= kShownKeys) {
      unknown += fmt::format("{}'{}' = {}", unknown.empty() ? "" : ", ", printable(key), shown(value));
    }
  };
  for (const auto &[key, value] : json_.items())
    check(check, key, value);
  if (unknownCount > kShownKeys)
    unknown += fmt::format(" and {} more", unknownCount - kShownKeys);
  if (!unknown.empty())
    fail(fmt::format(
        "a key may change what the model computes, and the importer does not know it: {}; remove it "
        "if it does not matter",
        unknown));
  return status_;
}

} // namespace trainc::importer
