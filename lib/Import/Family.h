// The families of models that can be imported.
#pragma once

#include "lib/Import/Config.h"
#include "lib/Import/Decoder.h"

#include <span>

namespace trainc::importer {

/// Models of one `model_type`. Defaults of missing keys are those of the family's class in Hugging Face's
/// transformers.
struct Family {
  const char *type;
  const char *classPrefix; ///< as "Qwen3" of Qwen3ForCausalLM
  /// Reads the keys of a config; errors are kept in the config.
  Decoder (*read)(Config &config);
};

#define TRAINC_FAMILY(source, type, prefix, read) Decoder read(Config &config);
#include "lib/Import/families.def"
#undef TRAINC_FAMILY

inline constexpr Family kFamilies[] = {
#define TRAINC_FAMILY(source, type, prefix, read) {#type, #prefix, read},
#include "lib/Import/families.def"
#undef TRAINC_FAMILY
};

} // namespace trainc::importer
