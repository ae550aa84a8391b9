// Options of `trainc compile` and `trainc estimate` that are settings of the program.
#pragma once

#include "plan/settings/settings.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace trainc {

/// Accepts a positive number of bytes, such as 16GiB, and converts it to a plain number.
CLI::Validator someBytes();

/// Adds the option of the setting. The default is the content of `value`.
CLI::Option *addSetting(CLI::App &command, const train::Setting &setting, std::string &value,
                        std::string help);

/// Adds an option for each setting that has one, the most used first, in groups by theme; `given` receives
/// the settings on the command line.
void addSettings(CLI::App &compile, std::vector<train::GivenSetting> &given);

} // namespace trainc
