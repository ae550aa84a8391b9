// Parts of encoders that are laid out as BERT (Devlin et al. 2018).
#pragma once

#include "lib/Import/Encoder.h"
#include "lib/Import/Keys.h"

namespace trainc::importer {

/// Reads the keys that these families have, and gives the encoder equal layers. Queries, keys and values have
/// the scope `scope` in a layer. The caller gives the encoder its norms, inputs and head.
Encoder readBertParts(Config &config, const std::string &scope);

} // namespace trainc::importer
