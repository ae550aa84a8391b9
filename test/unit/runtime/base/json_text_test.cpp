#include "runtime/base/json_text.h"

#include <gmock/gmock.h>

namespace trainc {
namespace {

std::string nested(size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(JsonText, AsDeepAsAllowed) {
  EXPECT_TRUE(parseJson("f", nested(kMaxJsonDepth)).ok());
  const auto deeper = parseJson("f", nested(kMaxJsonDepth + 1));
  EXPECT_EQ(deeper.status().exitCode(), 2);
  EXPECT_EQ(deeper.status().message(), "f: nested deeper than 64 levels");
}

TEST(JsonText, FarTooDeepDoesNotOverflowTheStack) {
  EXPECT_TRUE(tryParseJson(R"({"shape": )" + nested(1'000'000) + "}").is_discarded());
  EXPECT_TRUE(tryParseJson(std::string(1'000'000, '[')).is_discarded());
}

TEST(JsonText, ErrorsSayWhereAndWhy) {
  const auto error = [](std::string_view text) { return parseJson("f", text).status().message(); };
  EXPECT_THAT(error("[1, }"), testing::StartsWith("f:1:5: not JSON: "));
  EXPECT_THAT(error("{\n  \"a\": 1\n  \"b\": 2\n}"), testing::StartsWith("f:3:5: not JSON: "));
  EXPECT_THAT(error("[\n"), testing::StartsWith("f:2:1: not JSON: ")); // the end
  EXPECT_THAT(error({"{}\0garbage", 10}), "f:1:3: not JSON: expected text, found a byte of 0");
  EXPECT_THAT(error(""), testing::StartsWith("f:1:1: not JSON: "));
}

TEST(JsonText, ObserversHearOfKeys) {
  std::vector<std::string> keys;
  const auto observe = [&](int, nlohmann::json::parse_event_t event, nlohmann::json &value) {
    if (event == nlohmann::json::parse_event_t::key)
      keys.push_back(value.get<std::string>());
    return true;
  };
  EXPECT_EQ(tryParseJson(R"({"a": 1, "b": {"c": 2}})", observe)["b"]["c"], 2);
  EXPECT_THAT(keys, testing::ElementsAre("a", "b", "c"));
}

TEST(JsonText, FindsTheFirstNameThatAnObjectHasTwice) {
  const auto found = [](std::string_view text) {
    std::string repeated;
    tryParseJson(text, findRepeatedName(repeated));
    return repeated;
  };
  EXPECT_EQ(found(R"({"a": 1, "b": {"a": 2}, "c": [{"a": 3}, {"a": 4}]})"), "");
  EXPECT_EQ(found(R"({"a": 1, "b": {}, "a": 2, "b": 3})"), "a");
  EXPECT_EQ(found(R"({"a": {"b": {}, "c": [{"d": {"e": 1}, "d": 2}]}})"), "a.c.d");
}

} // namespace
} // namespace trainc
