// Options of `trainc compile` and `trainc estimate` that are settings of the program.
#pragma once

#include "dialects/Train/ProgramWords.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace trainc {

/// One of these words, in any case.
CLI::Validator oneOfWords(std::vector<std::string> words);

/// A number of bytes above 0, such as 16GiB, which becomes a plain number.
CLI::Validator someBytes();

/// Adds the option of the setting `word`, which has one. The default is what `value` holds.
CLI::Option *addSetting(CLI::App &command, std::string_view word, std::string &value, std::string help);

/// Adds an option for each setting that has one; `given` receives what the command line says.
void addSettings(CLI::App &compile, std::vector<train::GivenSetting> &given);

} // namespace trainc
