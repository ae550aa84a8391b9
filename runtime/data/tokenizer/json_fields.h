// Access to optional fields of tokenizer.json, and errors for unsupported ones.
#pragma once

#include "base/status.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// The value as text, truncated to about 200 bytes, for messages.
std::string shortened(const nlohmann::json &json);

/// The field, or null if `object` is not an object or lacks it.
const nlohmann::json &field(const nlohmann::json &object, const char *key);
/// The field's boolean, or `absent` if there is none.
bool booleanOf(const nlohmann::json &object, const char *key, bool absent = false);
/// The field's text; empty if there is none.
std::string textOf(const nlohmann::json &object, const char *key);
/// Whether `text` is exactly one character.
bool isOneCharacter(std::string_view text);

/// The steps of a Sequence under `key`, also of one within it, or the one step itself; none for null. Fails
/// (kInvalidInput), naming `piece`, if there are more than anyone needs: each step costs stack.
Result<std::vector<const nlohmann::json *>> stepsOf(const std::string &file, const char *piece,
                                                    const nlohmann::json &step, const char *key);

/// An error (kInvalidInput) that names `piece` and what was found, its type first.
Status unsupported(const std::string &file, std::string_view piece, const nlohmann::json &found,
                   std::string_view expected);

} // namespace trainc
