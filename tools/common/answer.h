// Output of --help and --version.
#pragma once

#include "base/print.h"

#include <CLI/CLI.hpp>
#include <sstream>

namespace trainc {

/// The heading of --help over the ten options that are used most.
inline constexpr const char *kMostUsed = "Most used";

/// Formats --help for terminals of 100 columns. An option whose value may be left out is `--resume[=DIR]`,
/// with the type's name in the brackets.
class HelpFormatter : public CLI::Formatter {
public:
  std::string make_option_name(const CLI::Option *option, bool isPositional) const override {
    const std::string name = Formatter::make_option_name(option, isPositional);
    const size_t standard = name.find('{'); // the value if none is given
    return standard == std::string::npos ? name
                                         : name.substr(0, standard) + "[=" + option->get_type_name() + "]";
  }
  std::string make_option_opts(const CLI::Option *option) const override {
    const bool isInName = Formatter::make_option_name(option, false).find('{') != std::string::npos;
    return isInName ? "" : Formatter::make_option_opts(option);
  }
  std::string make_option_desc(const CLI::Option *option) const override {
    return wrapped(option->get_description());
  }
  std::string make_subcommand(const CLI::App *command) const override {
    std::ostringstream out;
    CLI::detail::format_help(out, command->get_name(), wrapped(command->get_description()), column_width_);
    return out.str();
  }

private:
  /// Breaks a text into lines that fit beside the left column.
  std::string wrapped(const std::string &text) const {
    constexpr size_t kWidth = 100;
    std::istringstream words(text);
    std::string lines, line;
    for (std::string word; words >> word; line += (line.empty() ? "" : " ") + word)
      if (!line.empty() && column_width_ + line.size() + 1 + word.size() > kWidth) {
        lines += line + '\n';
        line.clear();
      }
    return lines + line;
  }
};

/// Lists the options of `app` that are there so far before --help, so that those used most come first.
inline void putHelpLast(CLI::App &app) {
  app.set_help_flag("-h,--help", "Print this help and exit")->group("Help");
}

/// Prints the help or the version that the command line asked for.
inline Status printAnswer(const CLI::App &app, const CLI::ParseError &question) {
  std::ostringstream text;
  app.exit(question, text, text);
  return printOutput(text.str());
}

} // namespace trainc
