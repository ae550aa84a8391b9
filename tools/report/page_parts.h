// The files of page/, which the build puts into the program.
#pragma once

#include <string_view>

namespace trainc::report {

/// The text of a file of page/ by its name, e.g. "style.css"; empty where there is none.
std::string_view pagePart(std::string_view name);

} // namespace trainc::report
