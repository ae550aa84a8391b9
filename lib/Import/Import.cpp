#include "lib/Import/Import.h"

#include "base/nearest_word.h"
#include "base/plain_text.h"
#include "lib/Import/DecoderText.h"
#include "lib/Import/Family.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace trainc::importer {

using Json = nlohmann::json;

static Result<const Family *> findFamily(const Config &config) {
  const auto type = config.json().find("model_type");
  if (type == config.json().end() || !type->is_string())
    return invalidInput("{}: expected a key 'model_type' with the name of a family, such as \"qwen3\"",
                        config.file());
  const auto name = type->get<std::string>();
  std::vector<std::string> known;
  for (const Family &family : kFamilies) {
    if (family.type == name)
      return &family;
    known.emplace_back(family.type);
  }
  return invalidInput(
      "{}: the family {} (model_type) cannot be imported yet; known are {}. A model of another family "
      "can be written by hand (docs/how-to/write-a-model.md)",
      config.file(), printable(name), fmt::join(known, ", "));
}

/// The class that the weights are of, "Qwen3ForCausalLM" if the config names none.
static Result<std::string> architectureOf(const Config &config, const Family &family) {
  const std::string usual = std::string(family.classPrefix) + "ForCausalLM";
  const auto names = config.json().find("architectures");
  if (names == config.json().end() || names->is_null())
    return usual;
  if (!names->is_array() || names->size() != 1 || !(*names)[0].is_string())
    return invalidInput("{}: 'architectures': expected a list of one class, such as [\"{}\"]", config.file(),
                        usual);
  const auto name = (*names)[0].get<std::string>();
  if (name == usual || (name == "GPT2LMHeadModel" && std::string_view(family.type) == "gpt2"))
    return name;
  return invalidInput("{}: the class {} (architectures) cannot be imported yet; expected {}", config.file(),
                      printable(name), usual);
}

/// The config of the imported model, whose weights are held in f32.
static Json exportedConfig(Json config, const std::string &architecture) {
  for (const char *key : {"transformers_version", "_name_or_path", "auto_map"})
    config.erase(key);
  config["architectures"] = {architecture};
  for (const char *key : {"dtype", "torch_dtype"})
    if (config.contains(key))
      config[key] = "float32";
  return config;
}

static Status checkQuantization(const Config &config) {
  const auto found = config.json().find("quantization_config");
  if (found == config.json().end() || found->is_null())
    return {};
  return invalidInput(
      "{}: the weights are quantised (quantization_config); expected the plain model, or one that was "
      "dequantised",
      config.file());
}

Result<ImportedModel> importModel(const std::string &file, std::string_view text, bool keepsDropout) {
  TRAINC_ASSIGN_OR_RETURN(Config config, Config::parse(file, text, keepsDropout));
  TRAINC_ASSIGN_OR_RETURN(const Family *family, findFamily(config));
  TRAINC_RETURN_IF_ERROR(checkQuantization(config));
  TRAINC_ASSIGN_OR_RETURN(const std::string architecture, architectureOf(config, *family));
  config.require("is_encoder_decoder", false, "encoders are not supported");
  Decoder decoder = family->read(config);
  decoder.family = family->type;
  decoder.architecture = architecture;
  TRAINC_RETURN_IF_ERROR(config.finish());
  return ImportedModel{decoderText(decoder, exportedConfig(config.json(), architecture)), architecture,
                       decoder.parameters(), config.uses()};
}

} // namespace trainc::importer
