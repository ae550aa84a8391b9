// Checks of a command line before CLI11 parses it: arguments that CLI11 would misread, and better messages.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Returns where an unknown option belongs, if known, or what an option without its value says elsewhere.
/// Takes the option's name without dashes, and its value (empty: none).
using FindHome = std::function<std::optional<std::string>(std::string_view option, std::string_view value)>;

/// Returns the first error in the arguments of `app`, a program or a subcommand:
///  * an option that ends in '=', such as `--steps=$STEPS` with an empty shell variable, or an empty
///    argument, such as "$OUT". CLI11 would take the next option, or the empty text, for the value;
///  * an option in place of a value, as in `--checkpoint-dir --resume`. CLI11 would take it for the value;
///  * a single-valued option given twice;
///  * a flag with a value that is neither true nor false;
///  * a list with an empty element, as in `--init-missing=a,`. CLI11 would drop the element;
///  * an unknown option. The message names where it belongs, or else the nearest name.
std::optional<std::string> findBadArgument(const CLI::App &app, std::span<const char *const> arguments,
                                           const FindHome &findHome = {});

/// Description of a parse error of `app`.
std::string describeParseError(const CLI::App &app, const CLI::ParseError &error);

} // namespace trainc
