#include "tools/common/arguments.h"

#include "base/nearest_word.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace trainc {

namespace {

/// Name of an option without dashes and value. Also strips typographic dashes, which web pages and word
/// processors substitute for `--`.
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

/// Whether an argument has the form of an option. A negative number is not one, and neither is a single dash,
/// which stands for a file.
bool looksLikeOption(std::string_view argument) {
  const std::string_view name = plainName(argument);
  const bool hasDash = name.data() != argument.data();
  return hasDash && !name.empty() && !std::isdigit(static_cast<unsigned char>(name.front())) &&
         name.front() != '.';
}

/// The option that an argument names, or null.
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

/// The value of an option that the program does not know: what follows '=', or the next argument if that is
/// not an option.
std::string_view valueOf(std::span<const char *const> arguments, size_t at) {
  const std::string_view argument = arguments[at];
  if (const size_t equals = argument.find('='); equals != std::string_view::npos)
    return argument.substr(equals + 1);
  const std::string_view next = at + 1 < arguments.size() ? arguments[at + 1] : "";
  return looksLikeOption(next) ? "" : next;
}

std::string describeUnknown(const CLI::App &app, std::span<const char *const> arguments, size_t at,
                            const FindHome &findHome) {
  const std::string_view argument = arguments[at];
  const std::string_view name = plainName(argument);
  const std::string_view written = argument.substr(0, argument.find('='));
  if (const std::optional<std::string> home =
          findHome ? findHome(name, valueOf(arguments, at)) : std::nullopt)
    return fmt::format("{}: {}", written, *home);
  const std::string nearest = nearestOption(app, name);
  return fmt::format("{} is unknown{}", written,
                     nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

/// Checks the argument after `option`, which takes a value.
std::optional<std::string> checkNext(const CLI::App &app, std::string_view option, std::string_view value) {
  const bool isOption = value.size() > 2 && value.starts_with("--");
  if (isOption || (value.starts_with("-") && findOption(app, value)))
    return fmt::format("{} has no value, as {} follows; if that is the value, write {}={}", option, value,
                       option, value);
  return std::nullopt;
}

std::optional<std::string> findEmpty(std::span<const char *const> arguments, size_t at) {
  const std::string_view argument = arguments[at];
  if (argument.empty())
    return at > 0 ? fmt::format("the argument after {} is empty; is a variable?", arguments[at - 1])
                  : "the first argument is empty; is a variable?";
  if (argument.starts_with("--") && argument.find('=') == argument.size() - 1)
    return fmt::format("{} has no value; is a variable empty?", argument);
  return std::nullopt;
}

/// Whether an option takes its value only after '=', like --resume.
bool takesOptionalValue(const CLI::Option &option) {
  return option.get_items_expected_max() == 0 && !option.get_lnames().empty() &&
         option.check_fname(option.get_lnames().front());
}

/// Whether a second value is an error.
bool takesOneValue(const CLI::Option &option) {
  return takesOptionalValue(option) ||
         (option.get_items_expected_max() == 1 && option.get_items_expected_min() == 1 &&
          option.get_multi_option_policy() == CLI::MultiOptionPolicy::Throw);
}

/// Rejects '=' with a value after an option that takes none.
std::optional<std::string> checkFlag(const CLI::Option &option, std::string_view argument) {
  const size_t equals = argument.find('=');
  if (equals == std::string_view::npos || option.get_items_expected_max() > 0 || takesOptionalValue(option))
    return std::nullopt;
  const std::string_view value = argument.substr(equals + 1);
  if (value == "true" || value == "false")
    return std::nullopt;
  return fmt::format("{} takes no value, or true or false; found '{}'", argument.substr(0, equals), value);
}

/// Whether an option's value is the next argument.
bool takesNext(const CLI::Option &option, std::string_view argument) {
  return option.get_items_expected_min() > 0 && argument.find('=') == std::string_view::npos;
}

/// Rejects empty elements of a list, which CLI11 would drop.
std::optional<std::string> checkElements(const CLI::Option &option, std::string_view name,
                                         std::string_view value) {
  const char comma = option.get_delimiter();
  const std::string pair(2, comma);
  if (comma == '\0' ||
      (!value.starts_with(comma) && !value.ends_with(comma) && value.find(pair) == std::string_view::npos))
    return std::nullopt;
  return fmt::format("{}: expected an element before and after each comma, found '{}'", name, value);
}

/// Rejects an option without its value, which is the next argument, and answers a flag of another program
/// that has this name.
std::optional<std::string> checkNextValue(const CLI::App &app, const CLI::Option &option,
                                          std::span<const char *const> arguments, size_t at,
                                          const FindHome &findHome) {
  const std::string_view argument = arguments[at];
  const bool isLast = at + 1 == arguments.size();
  const std::optional<std::string> bad = isLast ? std::nullopt : checkNext(app, argument, arguments[at + 1]);
  if (isLast || bad) { // CLI11 says what is missing at the end
    const std::optional<std::string> home = findHome ? findHome(plainName(argument), "") : std::nullopt;
    return home ? fmt::format("{}: {}", argument, *home) : bad;
  }
  if (std::optional<std::string> empty = findEmpty(arguments, at + 1))
    return empty;
  return checkElements(option, argument, arguments[at + 1]);
}

/// As help shows it: its type, or its name.
std::string shownPositional(const CLI::Option &option) {
  return option.get_type_name().empty() ? option.get_name() : option.get_type_name();
}

} // namespace

std::optional<std::string> findBadArgument(const CLI::App &app, std::span<const char *const> arguments,
                                           const FindHome &findHome) {
  std::set<const CLI::Option *> seen;
  for (size_t i = 0; i < arguments.size() && std::string_view(arguments[i]) != "--"; ++i) {
    const std::string_view argument = arguments[i];
    if (std::optional<std::string> empty = findEmpty(arguments, i))
      return empty;
    if (!looksLikeOption(argument))
      continue;
    const CLI::Option *option = findOption(app, argument);
    if (!option && (argument[1] == '-' || !findOption(app, argument.substr(0, 2))))
      return describeUnknown(app, arguments, i, findHome);
    if (option && takesOneValue(*option) && !seen.insert(option).second)
      return fmt::format("{} is given twice; give it once", argument.substr(0, argument.find('=')));
    if (std::optional<std::string> bad = option ? checkFlag(*option, argument) : std::nullopt)
      return bad;
    if (!option)
      continue;
    if (takesNext(*option, argument)) {
      if (std::optional<std::string> bad = checkNextValue(app, *option, arguments, i++, findHome))
        return bad;
    } else if (const size_t equals = argument.find('='); equals != std::string_view::npos) {
      if (auto bad = checkElements(*option, argument.substr(0, equals), argument.substr(equals + 1)))
        return bad;
    }
  }
  return std::nullopt;
}

std::string describeParseError(const CLI::App &app, const CLI::ParseError &error) {
  if (static_cast<CLI::ExitCodes>(error.get_exit_code()) == CLI::ExitCodes::RequiredError)
    for (const CLI::Option *option : app.get_options())
      if (option->get_required() && option->count() == 0)
        return fmt::format("{} is required",
                           option->nonpositional() ? option->get_name() : shownPositional(*option));
  if (static_cast<CLI::ExitCodes>(error.get_exit_code()) != CLI::ExitCodes::ExtrasError)
    return error.what();
  const std::vector<std::string> extra = app.remaining();
  return fmt::format("expected nothing else, found {}", fmt::join(extra, " "));
}

} // namespace trainc
