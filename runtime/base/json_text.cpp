#include "runtime/base/json_text.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <ranges>
#include <set>
#include <vector>

namespace trainc {

namespace {

using Json = nlohmann::json;

/// A SAX handler that finds position and cause of the first syntax error.
struct ErrorFinder : nlohmann::json_sax<Json> {
  size_t position = 0; ///< 1-based byte offset of the error; one past the end if the text ends too early
  std::string reason;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t &) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t at, const std::string &, const nlohmann::detail::exception &error) override {
    position = at;
    const std::string_view text =
        error.what(); // "[json.exception.parse_error.101] parse error at ...: reason"
    const size_t colon = text.find(": ");
    reason = text.substr(colon == std::string_view::npos ? 0 : colon + 2);
    return false;
  }
};

} // namespace

Json tryParseJson(std::string_view text, const Json::parser_callback_t &observe) {
  if (text.find('\0') != std::string_view::npos) // the parser would stop at the NUL
    return Json(Json::value_t::discarded);
  bool tooDeep = false;
  const auto guarded = [&](int depth, Json::parse_event_t event, Json &value) {
    tooDeep = tooDeep || depth >= kMaxJsonDepth;
    return !tooDeep && (!observe || observe(depth, event, value));
  };
  Json json = Json::parse(text.begin(), text.end(), guarded, /*allow_exceptions=*/false);
  return tooDeep ? Json(Json::value_t::discarded) : json;
}

Result<Json> parseJson(const std::string &file, std::string_view text,
                       const Json::parser_callback_t &observe) {
  Json json = tryParseJson(text, observe);
  if (!json.is_discarded())
    return json;
  ErrorFinder finder;
  if (Json::sax_parse(text.begin(), text.end(), &finder)) {
    finder.position = text.find('\0') + 1;
    finder.reason = "expected text, found a byte of 0";
    if (finder.position == 0)
      return invalidInput("{}: nested deeper than {} levels", file, kMaxJsonDepth);
  }
  const std::string_view before = text.substr(0, std::max<size_t>(finder.position, 1) - 1);
  return invalidInput("{}:{}:{}: not JSON: {}", file, std::ranges::count(before, '\n') + 1,
                      before.size() - (before.rfind('\n') + 1) + 1, finder.reason); // npos + 1 is 0
}

Json::parser_callback_t findRepeatedName(std::string &repeated) {
  struct Object {
    std::set<std::string> names;
    std::string latest;
  };
  return [&repeated, objects = std::vector<Object>()](int, Json::parse_event_t event, Json &value) mutable {
    if (event == Json::parse_event_t::object_start)
      objects.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      objects.pop_back();
    if (event != Json::parse_event_t::key)
      return true;
    objects.back().latest = value.get<std::string>();
    if (!objects.back().names.insert(objects.back().latest).second && repeated.empty())
      repeated = fmt::format("{}", fmt::join(objects | std::views::transform(&Object::latest), "."));
    return true;
  };
}

} // namespace trainc
