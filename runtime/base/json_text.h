// JSON without exceptions.
#pragma once

#include "runtime/base/status.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace trainc {

/// Parses `text`; `file` is for messages. An error (kInvalidInput) names the byte offset and what is wrong
/// there.
Result<nlohmann::json> parseJson(const std::string &file, std::string_view text);

} // namespace trainc
