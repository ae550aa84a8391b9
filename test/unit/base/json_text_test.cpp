#include "base/json_text.h"

#include <ctime>
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
  EXPECT_EQ(error("version https://git-lfs.github.com/spec/v1\n"),
            "f: expected JSON, found a pointer of Git LFS; fetch the file itself: git lfs pull");
  const std::string large = "1" + std::string(400, '0');
  EXPECT_EQ(error("{\"a\": " + large + "}"),
            "f:1:7: not JSON: the number " + large + " is larger than any of f64");
}

TEST(JsonText, ANameTwiceIsAnErrorWhereOneValueWouldBeLost) {
  EXPECT_TRUE(parseJsonOnce("f", R"({"a": 1, "b": {"a": 2}})").ok());
  EXPECT_EQ(parseJsonOnce("f", R"({"b": {"a": 2, "a": 2}})").status().message(),
            "f: expected each name once, found 'b.a' twice; the file is damaged");
}

TEST(JsonText, BuildsEveryKindOfValue) {
  const auto json =
      tryParseJson(R"({"a": [1, -2, 2.5, "x\u00e9", true, null, [], {}], "b": {"c": {"d": [[3]]}}})");
  EXPECT_EQ(json.dump(), R"({"a":[1,-2,2.5,"xé",true,null,[],{}],"b":{"c":{"d":[[3]]}}})");
  EXPECT_TRUE(json["a"][0].is_number_unsigned());
  EXPECT_EQ(tryParseJson("7"), 7);
}

TEST(JsonText, OfTwoValuesOfANameTheLaterCounts) {
  EXPECT_EQ(tryParseJson(R"({"a": {"b": 1}, "a": [2]})").dump(), R"({"a":[2]})");
}

TEST(JsonText, FindsTheFirstNameThatAnObjectHasTwice) {
  const auto found = [](std::string_view text) {
    std::string repeated;
    tryParseJson(text, &repeated);
    return repeated;
  };
  EXPECT_EQ(found(R"({"a": 1, "b": {"a": 2}, "c": [{"a": 3}, {"a": 4}]})"), "");
  EXPECT_EQ(found(R"({"a": 1, "b": {}, "a": 2, "b": 3})"), "a");
  EXPECT_EQ(found(R"({"a": {"b": {}, "c": [{"d": {"e": 1}, "d": 2}]}})"), "a.c.d");
  EXPECT_EQ(found(R"({"a": {"b": 1, "c": 2, "b": 3}, "d": {"e": 1, "e": 2}})"), "a.b");
}

/// Seconds of CPU for an object with that many objects in it.
double secondsOfMembers(size_t members) {
  std::string text = "{";
  for (size_t i = 0; i < members; ++i)
    text += fmt::format(R"({}"layers.{}.weight": {{"shape": [], "data_offsets": [0, 0]}})", i ? ", " : "", i);
  text += "}";
  std::string repeated;
  const std::clock_t begin = std::clock();
  EXPECT_EQ(tryParseJson(text, &repeated).size(), members);
  EXPECT_EQ(repeated, "");
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST(JsonText, TakesATimeThatGrowsWithTheText) {
  const double few = secondsOfMembers(5'000), many = secondsOfMembers(40'000);
  EXPECT_LT(many, 24 * few + 0.05); // 8 times as many members; a square would be 64
}

} // namespace
} // namespace trainc
