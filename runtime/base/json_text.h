// JSON parsing of untrusted files: no exceptions, and a nesting limit that keeps recursive walks from
// overflowing the stack.
#pragma once

#include "runtime/base/status.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace trainc {

/// Maximum nesting depth of arrays and objects, and so of the recursion that walks over a value.
inline constexpr int kMaxJsonDepth = 64;

/// Parses `text`. The result is discarded (see is_discarded) if `text` is not JSON or is nested deeper than
/// kMaxJsonDepth. `observe`, if given, is called for every key and value, as by nlohmann::json::parse.
nlohmann::json tryParseJson(std::string_view text,
                            const nlohmann::json::parser_callback_t &observe = nullptr);

/// Parses `text` like tryParseJson(); `file` is the name for messages. Fails with kInvalidInput and a message
/// with line, column in bytes, and cause.
Result<nlohmann::json> parseJson(const std::string &file, std::string_view text,
                                 const nlohmann::json::parser_callback_t &observe = nullptr);

/// Returns an observer for one text that sets `repeated` (empty before) to the first key that an object holds
/// twice, qualified by the enclosing keys, as "device.name". The parsed value itself keeps only the last
/// value of such a key.
nlohmann::json::parser_callback_t findRepeatedName(std::string &repeated);

} // namespace trainc
