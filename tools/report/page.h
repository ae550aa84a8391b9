// The report as one page of HTML that needs nothing else: no network, no other file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace trainc::report {

/// The page of a document (document.h) or of a difference (difference.h). Texts of the plan cannot end the
/// script that holds them, and reach the page as text, never as HTML.
std::string pageOf(const nlohmann::json &document);

/// The text that every page begins with.
std::string_view pageBeginning();

} // namespace trainc::report
