// JSON from files of others: without exceptions, in a time that grows with the text's length, and not nested
// so deep that walking over it overflows the stack.
#pragma once

#include "base/status.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace trainc {

/// Maximum number of arrays and objects within each other; a walk over a value recurses as often.
inline constexpr size_t kMaxJsonDepth = 64;

/// Parses `text`. The result is discarded (see is_discarded) if the text is not JSON, or is nested deeper.
/// If an object has a name twice, the later value counts. `repeated`, if given, is then set to the first
/// such name, with the names of the enclosing objects, as "device.name"; else it is empty.
nlohmann::json tryParseJson(std::string_view text, std::string *repeated = nullptr);

/// Does the same; `file` is for messages. A number that exceeds f64 is an error, too. An error
/// (kInvalidInput) names the line, the column in bytes, and what is wrong there.
Result<nlohmann::json> parseJson(const std::string &file, std::string_view text,
                                 std::string *repeated = nullptr);

/// Like parseJson(), but fails if an object has a name twice, of which one value would be lost.
Result<nlohmann::json> parseJsonOnce(const std::string &file, std::string_view text);

} // namespace trainc
