// Texts of the programs as cells of Markdown tables.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainc {

/// `text` as code. Escapes |, which would end a cell.
std::string code(std::string_view text);

/// A plain text of --help as the content of a cell: options (--steps=N) and quoted words ('bytes') become
/// code, and characters that Markdown or HTML would interpret are escaped.
std::string prose(std::string_view text);

/// Meaning and default of a text of --help that ends in "; default: ..."; else the whole text and an empty
/// default.
std::pair<std::string_view, std::string_view> splitDefault(std::string_view text);

/// A table whose columns are separated by | in `header`, as in "option|meaning".
std::string table(std::string_view header, const std::vector<std::vector<std::string>> &rows);

} // namespace trainc
