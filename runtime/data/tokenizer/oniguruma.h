// Conversion of Oniguruma's regular expressions, which tokenizer.json contains.
#pragma once

#include "base/status.h"

#include <string>
#include <string_view>

namespace trainc {

/// Converts `pattern`, in the Oniguruma syntax of Hugging Face's tokenizers, to PCRE2's syntax (with the
/// options UTF, UCP and MULTILINE): \s, \w, \d, \h and \b get Oniguruma's meaning. With `newCharacters` the
/// result includes letters, numbers and Han characters of Unicode 15 and 16, which PCRE2 may not know and
/// which cost time. Errors (kInvalidInput, prefixed with `where`) name an unsupported construct: nested
/// classes, [:names:], back references and calls, (?x), and options within a pattern.
Result<std::string> pcre2Pattern(const std::string &where, std::string_view pattern, bool newCharacters);

/// Whether UTF-8 text may contain such new characters.
bool mayHoldNewCharacters(std::string_view text);

} // namespace trainc
