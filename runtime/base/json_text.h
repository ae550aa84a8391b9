// JSON from files of others: without exceptions, and not nested so deep that walking over it overflows the
// stack.
#pragma once

#include "runtime/base/status.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace trainc {

/// Arrays and objects within each other; what walks over a value calls itself as often.
inline constexpr int kMaxJsonDepth = 64;

/// Parses `text`. The result is discarded (see is_discarded) where it is no JSON, or is nested deeper.
/// `observe`, where given, hears of every key and value, as in nlohmann::json::parse.
nlohmann::json tryParseJson(std::string_view text,
                            const nlohmann::json::parser_callback_t &observe = nullptr);

/// The same; `file` is for messages. An error (kInvalidInput) names the line, the column in bytes, and what
/// is wrong there.
Result<nlohmann::json> parseJson(const std::string &file, std::string_view text,
                                 const nlohmann::json::parser_callback_t &observe = nullptr);

/// An observer of one text: sets `repeated`, which is empty before, to the first name that an object has
/// twice, with the names of the objects around it, as "device.name". The parsed value holds only the later of
/// the two.
nlohmann::json::parser_callback_t findRepeatedName(std::string &repeated);

} // namespace trainc
