#include "lib/Import/Text.h"

#include <algorithm>
#include <cctype>

namespace trainc::importer {

using Json = nlohmann::json;

std::string numberText(double value) {
  std::string text = fmt::format("{}", value); // the fewest digits that give the same f64
  const size_t exponent = text.find('e');
  if (exponent == std::string::npos)
    return text;
  // 1e-06: without the plus and the leading zero.
  size_t digits = exponent + 1;
  const bool isNegative = text[digits] == '-';
  digits += text[digits] == '-' || text[digits] == '+';
  const size_t first = text.find_first_not_of('0', digits);
  return text.substr(0, exponent) + (isNegative ? "e-" : "e") + text.substr(first);
}

static bool isBareKey(std::string_view key) {
  const auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  return !key.empty() && std::ranges::all_of(key, isWord) &&
         !std::isdigit(static_cast<unsigned char>(key[0]));
}

static std::string inQuotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      result += fmt::format("\\{}", c);
    else if (byte < 0x20 || byte == 0x7f)
      result += fmt::format("\\{:02X}", byte);
    else
      result += c;
  }
  return result + "\"";
}

/// A float of MLIR's syntax, which has a point.
static std::string floatText(double value) {
  std::string text = numberText(value);
  const size_t exponent = text.find('e');
  if (text.find('.') == std::string::npos)
    text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
  return text;
}

static std::string attributeText(const Json &value);

static std::string entryText(const std::string &key, const Json &value) {
  const std::string name = isBareKey(key) ? key : inQuotes(key);
  return value.is_null() ? name : name + " = " + attributeText(value);
}

static std::string attributeText(const Json &value) {
  std::string text;
  const auto add = [&](const std::string &element) { text += (text.empty() ? "" : ", ") + element; };
  if (value.is_object()) {
    for (const auto &[key, inner] : value.items())
      add(entryText(key, inner));
    return "{" + text + "}";
  }
  if (value.is_array()) {
    for (const Json &inner : value)
      add(attributeText(inner));
    return "[" + text + "]";
  }
  if (value.is_string())
    return inQuotes(value.get<std::string>());
  if (value.is_number_float())
    return floatText(value.get<double>());
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX))
    return fmt::format("{} : ui64", value.get<uint64_t>());
  return value.is_null() ? "unit" : value.dump();
}

std::string exportText(const Json &config, size_t indent) {
  constexpr size_t kColumns = 100;
  const std::string margin(indent, ' ');
  std::string text, line;
  const auto endLine = [&] {
    text += margin + line + "\n";
    line.clear();
  };
  for (const auto &[key, value] : config.items()) {
    std::string entry = entryText(key, value);
    // A long object, such as the names of classes, has lines of its own.
    const bool isLong = value.is_object() && indent + entry.size() > kColumns;
    if (!line.empty()) {
      const bool fits = indent + line.size() + 2 + entry.size() <= kColumns;
      line += fits ? ", " : ",";
      if (!fits)
        endLine();
    }
    if (isLong) {
      const std::string empty = entryText(key, Json::object()); // as "id2label = {}"
      entry = empty.substr(0, empty.size() - 1) + "\n" + exportText(value, indent + 2) + margin + "}";
    }
    line += entry;
  }
  endLine();
  return text;
}

} // namespace trainc::importer
