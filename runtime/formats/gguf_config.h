// The configuration in a GGUF file's metadata, with Hugging Face's keys.
#pragma once

#include "runtime/formats/gguf_file.h"

namespace trainc {

/// Writes the text of a config.json with the keys that the metadata have: sizes, heads, epsilon, rotary
/// positions, window, caps and scales, and `model_type`. A file does not tell everything: the activation is
/// left out. Returns nothing for an architecture without a table of keys.
Result<std::optional<std::string>> configJsonOf(const GgufFile &file);

/// Fails (kInvalidInput) unless configJsonOf() tells all that the file says of what the model computes: for
/// an entry of the architecture that it does not read, and for rotary frequencies that a tensor scales.
Status requireWholeConfig(const GgufFile &file);

} // namespace trainc
