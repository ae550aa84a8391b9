// The text of a decoder in the model language.
#pragma once

#include "lib/Import/Decoder.h"

#include <nlohmann/json.hpp>
#include <string>

namespace trainc::importer {

/// Returns a model file: blocks, a model that exports `config` as config.json, and a program that fine-tunes
/// the model.
std::string decoderText(const Decoder &decoder, const nlohmann::json &config);

} // namespace trainc::importer
