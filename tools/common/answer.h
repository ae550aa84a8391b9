// Output of --help and --version.
#pragma once

#include "base/print.h"

#include <CLI/CLI.hpp>
#include <sstream>

namespace trainc {

/// The heading of --help over the ten options that are used most.
inline constexpr const char *kMostUsed = "Most used";

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
