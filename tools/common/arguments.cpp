#include "tools/common/arguments.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace trainc {

namespace {

/// How many characters must be changed, added or removed to turn one text into the other.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// The name of an option without its dashes and value. Pages and word processors turn `--` into the other
/// dashes.
std::string_view plainName(std::string_view argument) {
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view dash : {"-", "\u2013", "\u2014"})
      if (argument.starts_with(dash)) {
        argument.remove_prefix(dash.size());
        again = true;
      }
  }
  return argument.substr(0, argument.find('='));
}

/// Whether an argument is written like an option; a number may be negative, and a single dash is a file.
bool looksLikeOption(std::string_view argument) {
  const std::string_view name = plainName(argument);
  const bool hasDash = name.data() != argument.data();
  return hasDash && !name.empty() && !std::isdigit(static_cast<unsigned char>(name.front())) &&
         name.front() != '.';
}

/// The option that an argument names; null if there is none.
const CLI::Option *findOption(const CLI::App &app, std::string_view argument) {
  return app.get_option_no_throw(std::string(argument.substr(0, argument.find('='))));
}

std::string nearestOption(const CLI::App &app, std::string_view name) {
  std::vector<std::string> known;
  for (const CLI::Option *option : app.get_options())
    known.insert(known.end(), option->get_lnames().begin(), option->get_lnames().end());
  const std::string nearest = findNearest(name, known);
  return nearest.empty() ? "" : "--" + nearest;
}

std::string describeUnknown(const CLI::App &app, std::string_view argument, const FindHome &findHome) {
  const std::string_view name = plainName(argument);
  const std::string_view written = argument.substr(0, argument.find('='));
  if (const std::optional<std::string> home = findHome ? findHome(name) : std::nullopt)
    return fmt::format("{}: {}", written, *home);
  const std::string nearest = nearestOption(app, name);
  return fmt::format("{} is unknown{}", written,
                     nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

/// The value behind an option that takes one, `option` being what was written.
std::optional<std::string> checkValue(const CLI::App &app, std::string_view option, std::string_view value) {
  const bool isOption = value.size() > 2 && value.starts_with("--");
  if (isOption || (value.starts_with("-") && findOption(app, value)))
    return fmt::format("{} has no value, as {} follows; if that is the value, write {}={}", option, value,
                       option, value);
  return std::nullopt;
}

std::optional<std::string> findEmpty(std::span<const char *const> arguments, size_t at) {
  const std::string_view argument = arguments[at];
  if (argument.empty())
    return fmt::format("the argument behind {} is empty; is a variable?", at > 0 ? arguments[at - 1] : "it");
  if (argument.starts_with("--") && argument.find('=') == argument.size() - 1)
    return fmt::format("{} has no value; is a variable empty?", argument);
  return std::nullopt;
}

/// Whether an option's value is the next argument, rather than behind a '=' or none.
bool takesNext(const CLI::Option &option, std::string_view argument) {
  return option.get_items_expected_min() > 0 && argument.find('=') == std::string_view::npos;
}

} // namespace

std::string findNearest(std::string_view word, const std::vector<std::string> &known) {
  std::string nearest;
  size_t best = word.size() / 2 + 1; // from here on the two have little in common
  for (const std::string &each : known)
    if (const size_t distance = editDistance(word, each); distance < best) {
      best = distance;
      nearest = each;
    }
  return nearest;
}

std::optional<std::string> findBadArgument(const CLI::App &app, std::span<const char *const> arguments,
                                           const FindHome &findHome) {
  for (size_t i = 0; i < arguments.size() && std::string_view(arguments[i]) != "--"; ++i) {
    const std::string_view argument = arguments[i];
    if (std::optional<std::string> empty = findEmpty(arguments, i))
      return empty;
    if (!looksLikeOption(argument))
      continue;
    const CLI::Option *option = findOption(app, argument);
    if (!option && (argument[1] == '-' || !findOption(app, argument.substr(0, 2))))
      return describeUnknown(app, argument, findHome);
    if (!option || !takesNext(*option, argument) || i + 1 == arguments.size())
      continue;
    if (std::optional<std::string> bad = checkValue(app, argument, arguments[i + 1]))
      return bad;
    if (std::optional<std::string> empty = findEmpty(arguments, ++i))
      return empty;
  }
  return std::nullopt;
}

} // namespace trainc
