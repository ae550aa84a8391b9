// How tokenizer.json is read: fields that may be absent, and what to say of those that are not supported.
#pragma once

#include "runtime/base/status.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// At most some 200 bytes of the value, for messages.
std::string shortened(const nlohmann::json &json);

/// The field, or null where `object` is no object or lacks it.
const nlohmann::json &field(const nlohmann::json &object, const char *key);
/// The field's boolean, or `absent` where there is none.
bool booleanOf(const nlohmann::json &object, const char *key, bool absent = false);
/// The field's text, empty where there is none.
std::string textOf(const nlohmann::json &object, const char *key);
/// Whether `text` is one character.
bool isOneCharacter(std::string_view text);

/// The steps of a Sequence under `key`, also of one within it, or the one step itself; none for null.
std::vector<nlohmann::json> stepsOf(const nlohmann::json &step, const char *key);

/// An error (kInvalidInput) that names `piece` and what was found.
Status unsupported(const std::string &file, std::string_view piece, const nlohmann::json &found,
                   std::string_view expected);

} // namespace trainc
