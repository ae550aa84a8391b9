#include "base/json_text.h"

#include "base/lfs_pointer.h"
#include "base/plain_text.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <vector>

namespace trainc {

namespace {

using Json = nlohmann::json;

/// Builds a value from the events of the library's parser. The library's own parser with a callback looks at
/// all members of an object after each of them, which takes a time that grows with the square of their
/// number.
class JsonBuilder : public nlohmann::json_sax<Json> {
public:
  Json value = Json(Json::value_t::discarded);
  std::string repeated; ///< first name that an object has twice, with the names around it
  bool tooDeep = false;
  size_t position = 0; ///< of the byte that is wrong, from 1 on; one past the last if the text ends too early
  std::string reason;

  bool null() override { return add(nullptr); }
  bool boolean(bool found) override { return add(found); }
  bool number_integer(number_integer_t found) override { return add(found); }
  bool number_unsigned(number_unsigned_t found) override { return add(found); }
  bool number_float(number_float_t found, const string_t &) override { return add(found); }
  bool string(string_t &found) override { return add(std::move(found)); }
  bool binary(binary_t &found) override { return add(std::move(found)); }
  bool start_object(size_t) override { return open(Json::value_t::object); }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open(Json::value_t::array); }
  bool end_array() override { return close(); }

  bool key(string_t &name) override {
    Level &level = levels_.back();
    const auto [member, isNew] = level.container->get_ref<Json::object_t &>().try_emplace(name);
    level.member = member;
    if (!isNew && repeated.empty())
      repeated = path();
    return true;
  }

  bool parse_error(size_t at, const std::string &token, const nlohmann::detail::exception &error) override {
    constexpr int kNumberOverflow = 406;
    position = at;
    if (error.id == kNumberOverflow) {
      position = at - std::min(at, token.size()) + 1;
      reason = fmt::format("the number {} is larger than any of f64", token);
      return false;
    }
    const std::string_view text =
        error.what(); // "[json.exception.parse_error.101] parse error at ...: reason"
    const size_t colon = text.find(": ");
    reason = text.substr(colon == std::string_view::npos ? 0 : colon + 2);
    return false;
  }

private:
  /// An open array or object. It stays where it is until it is closed: no member is added beside it before.
  struct Level {
    Json *container;
    Json::object_t::iterator member = {}; ///< latest one of an object
  };

  bool add(Json found) {
    place(std::move(found));
    return true;
  }

  bool open(Json::value_t type) {
    tooDeep = levels_.size() >= kMaxJsonDepth;
    if (!tooDeep)
      levels_.push_back({&place(type)});
    return !tooDeep;
  }

  bool close() {
    levels_.pop_back();
    return true;
  }

  /// Puts a value where the text has it.
  Json &place(Json found) {
    if (levels_.empty())
      return value = std::move(found);
    Level &level = levels_.back();
    if (level.container->is_array())
      return level.container->emplace_back(std::move(found));
    return level.member->second = std::move(found);
  }

  /// Names of the members that are open, the latest one last.
  std::string path() const {
    std::vector<std::string_view> names;
    for (const Level &level : levels_)
      if (level.container->is_object())
        names.push_back(level.member->first);
    return fmt::format("{}", fmt::join(names, "."));
  }

  std::vector<Level> levels_;
};

/// Returns whether `text` is JSON that is not nested too deep.
bool buildJson(std::string_view text, JsonBuilder &builder) {
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos) { // the parser would end there
    builder.position = zero + 1;
    builder.reason = "expected text, found a byte of 0";
    return false;
  }
  return Json::sax_parse(text.begin(), text.end(), &builder);
}

} // namespace

Json tryParseJson(std::string_view text, std::string *repeated) {
  JsonBuilder builder;
  if (!buildJson(text, builder))
    return Json(Json::value_t::discarded);
  if (repeated)
    *repeated = std::move(builder.repeated);
  return std::move(builder.value);
}

Result<Json> parseJson(const std::string &file, std::string_view text, std::string *repeated) {
  JsonBuilder builder;
  if (buildJson(text, builder)) {
    if (repeated)
      *repeated = std::move(builder.repeated);
    return std::move(builder.value);
  }
  if (text.starts_with(kLfsPointer))
    return invalidInput("{}: expected JSON, found {}; {}", file, kLfsName, kLfsAdvice);
  if (builder.tooDeep)
    return invalidInput("{}: nested deeper than {} levels", file, kMaxJsonDepth);
  const std::string_view before = text.substr(0, std::max<size_t>(builder.position, 1) - 1);
  return invalidInput("{}:{}:{}: not JSON: {}", file, std::ranges::count(before, '\n') + 1,
                      before.size() - (before.rfind('\n') + 1) + 1, builder.reason); // npos + 1 is 0
}

Result<Json> parseJsonOnce(const std::string &file, std::string_view text) {
  std::string repeated;
  TRAINC_ASSIGN_OR_RETURN(Json json, parseJson(file, text, &repeated));
  if (!repeated.empty())
    return invalidInput("{}: expected each name once, found '{}' twice; the file is damaged", file,
                        printable(repeated));
  return json;
}

} // namespace trainc
