// Output of --help and --version.
#pragma once

#include "runtime/base/print.h"

#include <CLI/CLI.hpp>
#include <sstream>

namespace trainc {

/// Prints the help or the version that the command line asked for.
inline Status printAnswer(const CLI::App &app, const CLI::ParseError &question) {
  std::ostringstream text;
  app.exit(question, text, text);
  return printOutput(text.str());
}

} // namespace trainc
