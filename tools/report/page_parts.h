// Files of page/, embedded into the program by the build.
#pragma once

#include <string_view>

namespace trainc::report {

/// Content of a file of page/ by its name, e.g. "style.css"; empty if there is none.
std::string_view pagePart(std::string_view name);

} // namespace trainc::report
