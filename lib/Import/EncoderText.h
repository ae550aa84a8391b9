// The text of encoders.
#pragma once

#include "lib/Import/Encoder.h"

#include <nlohmann/json.hpp>
#include <string>

namespace trainc::importer {

/// Returns the text of a model and of a program that fine-tunes it. `config` is what checkpoints get as their
/// config.json.
std::string encoderText(const Encoder &encoder, const nlohmann::json &config);

} // namespace trainc::importer
