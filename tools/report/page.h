// The report as a self-contained HTML page, without network or other files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace trainc::report {

/// The page of a document (document.h) or of a difference (difference.h). Texts of the plan cannot end the
/// script element, and appear on the page as text, never as HTML, with invisible characters escaped.
std::string pageOf(const nlohmann::json &document);

/// Prefix of every page.
std::string_view pageBeginning();

} // namespace trainc::report
