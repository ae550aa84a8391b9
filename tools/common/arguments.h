// Checks of a command line before CLI11 parses it: what CLI11 would misread, and messages that know more.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Says where an option that a program does not have belongs, if that is known. Takes the option's name
/// without dashes.
using FindHome = std::function<std::optional<std::string>(std::string_view option)>;

/// What is wrong with the arguments of `app`, a program or a subcommand:
///  * an option that ends in its '=', as `--steps=$STEPS` does if the shell's variable is empty, or an empty
///    argument, as "$OUT" is. CLI11 would take the next option for the value, or the empty one;
///  * an option instead of another one's value, as in `--checkpoint-dir --resume`. CLI11 would take it as
///    such;
///  * an option of one value that is given twice;
///  * a flag's value that is neither true nor false;
///  * an unknown option. The message names its home, or else the nearest name.
std::optional<std::string> findBadArgument(const CLI::App &app, std::span<const char *const> arguments,
                                           const FindHome &findHome = {});

/// What CLI11 found when it parsed the arguments of `app`.
std::string describeParseError(const CLI::App &app, const CLI::ParseError &error);

} // namespace trainc
