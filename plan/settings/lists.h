// Lists in settings, in the syntax of models and command lines.
#pragma once

#include "plan/settings/setting.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainc::train {

/// Parses a number in digits without leading zeros. Returns none for other texts, and for numbers below
/// `min` or above `max`.
inline std::optional<int64_t> wholeNumberIn(std::string_view text, int64_t min, int64_t max = INT64_MAX) {
  int64_t number = 0;
  const bool isPlain = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos &&
                       (text.size() == 1 || text.front() != '0');
  const bool isRead =
      isPlain && std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc();
  return isRead && number >= min && number <= max ? std::optional(number) : std::nullopt;
}

/// An element of Shares: "15" is one use, "48x15" is 48 uses with 15 percent each.
struct KeptShare {
  int64_t uses = 1, percent = 0;
};

/// Maximum number of uses that one element stands for; no model has as many layers.
inline constexpr int64_t kMaxRepeated = 65536;

/// Parses an element of Shares; none if it is malformed.
inline std::optional<KeptShare> keptShareOf(std::string_view element) {
  const size_t times = element.find('x');
  const auto uses =
      times == std::string_view::npos ? 1 : wholeNumberIn(element.substr(0, times), 1, kMaxRepeated);
  const auto percent =
      wholeNumberIn(times == std::string_view::npos ? element : element.substr(times + 1), 0, 100);
  return uses && percent ? std::optional(KeptShare{*uses, *percent}) : std::nullopt;
}

/// Descriptions of valid lists, for errors.
inline constexpr std::string_view
    kExpectedShares = "numbers from 0 to 100 with commas between them, and before a number for several uses "
                      "their count of at most 65536, as in 48x15,30",
    kExpectedWrap = "blocks, model, names of blocks with commas between them or a number of parameters "
                    "above 0";

/// Value of `wrap`: what forms a unit of parameters.
struct Wrap {
  enum class Unit { Blocks, Model, LargeBlocks, NamedBlocks };
  Unit unit = Unit::Blocks;
  int64_t minElements = 0;                  ///< LargeBlocks: minimum number of a block's parameters
  std::vector<std::string_view> names = {}; ///< NamedBlocks; they point into the parsed text
};

/// Parses a value of `wrap`: words and names, or a single number; none if it is malformed.
inline std::optional<Wrap> wrapOf(std::string_view text) {
  std::vector<std::string_view> elements = elementsOf(text);
  const auto isName = [](std::string_view each) {
    return !each.empty() && (std::isalpha(static_cast<unsigned char>(each.front())) || each.front() == '_');
  };
  if (elements.size() == 1) {
    if (elements.front() == "blocks")
      return Wrap{Wrap::Unit::Blocks};
    if (elements.front() == "model")
      return Wrap{Wrap::Unit::Model};
    if (const std::optional<int64_t> number = wholeNumberIn(elements.front(), 1))
      return Wrap{Wrap::Unit::LargeBlocks, *number};
  }
  return std::ranges::all_of(elements, isName)
             ? std::optional(Wrap{Wrap::Unit::NamedBlocks, 0, std::move(elements)})
             : std::nullopt;
}

/// Removes the blanks around a list's elements. Returns the error, to be printed after the setting's name;
/// empty if there is none. Does not check whether words and names exist.
inline std::string tidyList(const Setting &setting, std::string &list) {
  const std::vector<std::string_view> elements = elementsOf(list);
  const auto expected = [&](std::string_view what) {
    return "expected " + std::string(what) + ", found '" + list + "'";
  };
  const bool isShares = setting.kind == ValueKind::Shares;
  if (isShares && !std::ranges::all_of(elements, [](auto each) { return keptShareOf(each).has_value(); }))
    return expected(kExpectedShares);
  if (setting.kind == ValueKind::Wrap && !wrapOf(list))
    return expected(kExpectedWrap);
  std::string tidy;
  for (const std::string_view element : elements) {
    if (element.empty())
      return expected("an element before and after each comma");
    if (!isShares && std::ranges::count(elements, element) > 1)
      return "expected each word once, found '" + std::string(element) + "' twice";
    tidy.append(tidy.empty() ? "" : ",").append(element);
  }
  list = tidy;
  return {};
}

} // namespace trainc::train
