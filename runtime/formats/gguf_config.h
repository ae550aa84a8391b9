// The configuration in a GGUF file's metadata, with Hugging Face's keys.
#pragma once

#include "runtime/formats/gguf_writer.h"

namespace trainc {

/// Writes the text of a config.json with the keys that the metadata have: sizes, heads, epsilon, rotary
/// positions, window, caps and scales, and `model_type`. A file does not tell everything: the activation is
/// left out. Returns nothing for an architecture without a table of keys.
Result<std::optional<std::string>> configJsonOf(const GgufFile &file);

/// Fails (kInvalidInput) unless configJsonOf() tells all that the file says of what the model computes: for
/// an entry of the architecture that it does not read, and for rotary frequencies that a tensor scales.
Status requireWholeConfig(const GgufFile &file);

/// The parts of a config.json that metadata do not have.
struct ConfigRest {
  /// Numbers by which rotary frequencies are divided: the tensor rope_freqs.weight (Llama 3.1); or none.
  std::vector<float> rotaryFactors;
  /// Text of the config.json with defaults, and without lists that follow from the architecture.
  std::string config;
};

/// Adds `general.architecture` and the entries of the architecture that say what a config.json does, as
/// llama.cpp's converter does. `text` is the config.json; `path` is for messages. Fails (kInvalidInput) if no
/// architecture has the model's type, if a size is missing, and if GGUF has no entries for the rule by which
/// rotary frequencies are scaled. Use wholeConfigOf() to see whether the entries say all.
Result<ConfigRest> addConfig(const std::string &path, std::string_view text, GgufHeader &header);

/// Does the same as configJsonOf(), and adds what an architecture computes without saying so, such as its
/// activation. `file` has a known architecture.
Result<std::string> wholeConfigOf(const GgufFile &file);

} // namespace trainc
