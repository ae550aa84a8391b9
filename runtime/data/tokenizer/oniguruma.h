// The syntax of regular expressions that tokenizer.json has.
#pragma once

#include "runtime/base/status.h"

#include <string>
#include <string_view>

namespace trainc {

/// `pattern`, written for Oniguruma as Hugging Face's tokenizers uses it, in PCRE2's syntax (with the options
/// UTF, UCP and MULTILINE): \s, \w, \d, \h and \b get Oniguruma's meaning. `newCharacters`: letters, numbers
/// and Han of Unicode 15 and 16 are known, which PCRE2 may not know and which take time. Errors
/// (kInvalidInput, with `where` before) name a construct that is not supported: classes within classes,
/// [:names:], back references and calls, (?x), and options amid a pattern.
Result<std::string> pcre2Pattern(const std::string &where, std::string_view pattern, bool newCharacters);

/// Whether UTF-8 may have such characters.
bool mayHoldNewCharacters(std::string_view text);

} // namespace trainc
