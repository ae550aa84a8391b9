// Parts of docs/reference that the tables of the programs define. Each function returns Markdown.
#pragma once

#include <string>
#include <string_view>

namespace trainc {

/// Page of all settings.
std::string settingsPage();

/// Page of all options of trainc, by subcommand and in the groups of --help.
std::string traincOptionsPage();
/// Page of all options of trainrun, in the groups of --help.
std::string trainrunOptionsPage();

/// Tables of the keys of a step's and of an evaluation's line of metrics.
std::string stepMetricsTable();
std::string evalMetricsTable();

std::string exitCodesTable();

/// Table of the ops that people write: those in `page` (a page of the dialect nn) that the last line of
/// `examples` (ops.md) does not list. Empty if there is none.
std::string opsTable(std::string_view page, std::string_view examples);

} // namespace trainc
