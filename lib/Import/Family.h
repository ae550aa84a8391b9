// The families of models that can be imported.
#pragma once

#include "lib/Import/Config.h"
#include "lib/Import/Decoder.h"
#include "lib/Import/Encoder.h"

#include <variant>

namespace trainc::importer {

/// Models of one `model_type`. Defaults of missing keys are those of the family's class in Hugging Face's
/// transformers.
struct Family {
  enum Kind { DecoderOfTexts, EncoderOfTexts, EncoderOfImages };
  const char *type;
  const char *classPrefix; ///< as "Qwen3" of Qwen3ForCausalLM
  Kind kind;
  /// Reads the keys of a config; errors are kept in the config.
  std::variant<Decoder (*)(Config &config), Encoder (*)(Config &config, Task task)> read;
};

#define TRAINC_DECODER(source, type, prefix, read) Decoder read(Config &config);
#define TRAINC_ENCODER(source, type, prefix, read) Encoder read(Config &config, Task task);
#define TRAINC_IMAGE_ENCODER TRAINC_ENCODER
#include "lib/Import/families.def"

inline constexpr Family kFamilies[] = {
#define TRAINC_DECODER(source, type, prefix, read) {#type, #prefix, Family::DecoderOfTexts, read},
#define TRAINC_ENCODER(source, type, prefix, read) {#type, #prefix, Family::EncoderOfTexts, read},
#define TRAINC_IMAGE_ENCODER(source, type, prefix, read) {#type, #prefix, Family::EncoderOfImages, read},
#include "lib/Import/families.def"
};

} // namespace trainc::importer
