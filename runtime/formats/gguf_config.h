// The configuration in a GGUF file's metadata, with Hugging Face's keys.
#pragma once

#include "runtime/formats/gguf_writer.h"

namespace trainc {

/// Writes the text of a config.json with the keys that the metadata have: sizes, heads, epsilon, rotary
/// positions, window, caps and scales, and `model_type`. A file does not tell everything: the activation is
/// left out. Returns nothing for an architecture without a table of keys.
Result<std::optional<std::string>> configJsonOf(const GgufFile &file);

/// Fails (kInvalidInput) unless configJsonOf() returns all that decides what the model computes. Examples of
/// a failure: an unknown entry of the architecture; a tensor that scales rotary frequencies by an unknown
/// rule.
Status requireWholeConfig(const GgufFile &file);

/// The parts of a config.json for which GGUF metadata has no entries.
struct ConfigRest {
  /// Numbers by which rotary frequencies are divided: the tensor rope_freqs.weight (Llama 3.1). May be empty.
  std::vector<float> rotaryFactors;
  /// Text of the config.json with the class's defaults, without lists that follow from the architecture.
  std::string config;
};

/// Adds `general.architecture` and the entries of the architecture that say what a config.json does, as
/// llama.cpp's converter does. `text` is the config.json; `path` is for messages. Fails (kInvalidInput) if no
/// architecture has the model's type, if a size is missing, and if GGUF has no entries for the rule by which
/// rotary frequencies are scaled. Use wholeConfigOf() to see whether the entries say all.
Result<ConfigRest> addConfig(const std::string &path, std::string_view text, GgufHeader &header);

/// Does the same as configJsonOf(), and adds the values that the architecture implies without an entry, such
/// as its activation. The architecture of `file` must be known.
Result<std::string> wholeConfigOf(const GgufFile &file);

} // namespace trainc
