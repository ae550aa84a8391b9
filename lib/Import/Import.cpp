#include "lib/Import/Import.h"

#include "base/nearest_word.h"
#include "base/plain_text.h"
#include "lib/Import/DecoderText.h"
#include "lib/Import/EncoderText.h"
#include "lib/Import/Family.h"
#include "lib/Import/Keys.h"

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

// --- Classes ---

namespace {

/// A class of weights that a family may have.
struct Class {
  Task task;
  std::string name;
};

} // namespace

/// Decoders whose classifiers are one class in transformers: a layer `score` on the last token.
static constexpr std::string_view kWithClassifier[] = {
    "gemma", "gemma2", "llama", "mistral", "olmo2", "phi", "phi3", "qwen2", "qwen3", "smollm3", "stablelm"};

/// The classes of a family that can be imported, the usual one first.
static std::vector<Class> classesOf(const Family &family) {
  const std::string prefix = family.classPrefix;
  switch (family.kind) {
  case Family::DecoderOfTexts: {
    std::vector<Class> classes = {{Task::CausalLm, std::string_view(family.type) == "gpt2"
                                                       ? prefix + "LMHeadModel"
                                                       : prefix + "ForCausalLM"}};
    if (std::ranges::find(kWithClassifier, std::string_view(family.type)) != std::end(kWithClassifier))
      classes.push_back({Task::Classification, prefix + "ForSequenceClassification"});
    return classes;
  }
  case Family::EncoderOfTexts:
    return {{Task::MaskedLm, prefix + "ForMaskedLM"},
            {Task::Classification, prefix + "ForSequenceClassification"},
            {Task::TokenClassification, prefix + "ForTokenClassification"}};
  case Family::EncoderOfImages:
    return {{Task::Classification, prefix + "ForImageClassification"}};
  }
  return {};
}

static const char *nameOf(Task task) { return std::ranges::find(kTaskNames, task, &TaskName::task)->name; }

/// The class for a task that the user wants.
static Result<Class> classForTask(const Config &config, const std::vector<Class> &classes, Task task) {
  const auto found = std::ranges::find(classes, task, &Class::task);
  if (found != classes.end())
    return *found;
  std::vector<std::string_view> known;
  for (const Class &each : classes)
    known.emplace_back(nameOf(each.task));
  return invalidInput("{}: this family has no --task={} yet; expected {}", config.file(), nameOf(task),
                      fmt::join(known, ", "));
}

/// The class that the weights are of. A decoder's config may name none.
static Result<Class> classOf(const Config &config, const Family &family, std::optional<Task> task) {
  const std::vector<Class> classes = classesOf(family);
  if (task)
    return classForTask(config, classes, *task);
  std::vector<std::string> known;
  for (const Class &each : classes)
    known.push_back(each.name);
  const std::string expected = fmt::format("expected {}", fmt::join(known, ", "));
  const auto names = config.json().find("architectures");
  if (names == config.json().end() || names->is_null()) {
    if (family.kind == Family::DecoderOfTexts)
      return classes.front();
    return invalidInput("{}: 'architectures' is missing, so the head is not known; {}, or give --task",
                        config.file(), expected);
  }
  if (!names->is_array() || names->size() != 1 || !(*names)[0].is_string())
    return invalidInput("{}: 'architectures': expected a list of one class, such as [\"{}\"]", config.file(),
                        known.front());
  const auto name = (*names)[0].get<std::string>();
  const auto found = std::ranges::find(classes, name, &Class::name);
  if (found != classes.end())
    return *found;
  return invalidInput(
      "{}: the class {} (architectures) cannot be imported yet; {}, or give --task, which puts "
      "a head on the model",
      config.file(), printable(name), expected);
}

/// Gives the config the labels of a new head.
static Status useLabels(Config &config, const std::vector<Class> &classes, Task task, int64_t count) {
  constexpr int64_t kMaxLabels = 1 << 20;
  if (task != Task::Classification && task != Task::TokenClassification)
    return invalidInput("--labels: {} has no labels; add --task with classification{}", nameOf(task),
                        std::ranges::find(classes, Task::TokenClassification, &Class::task) == classes.end()
                            ? ""
                            : " or token-classification");
  if (count < 1 || count > kMaxLabels)
    return invalidInput("--labels: expected from 1 to {} labels, found {}", kMaxLabels, count);
  Json names = Json::object(), ids = Json::object();
  for (int64_t label = 0; label < count; ++label) {
    const std::string name = fmt::format("LABEL_{}", label);
    names[std::to_string(label)] = name;
    ids[name] = label;
  }
  // The loss of another number of classes is not that of the new head.
  if (const auto old = config.json().find("id2label");
      old == config.json().end() || old->size() != names.size())
    config.erase("problem_type");
  config.set("id2label", std::move(names));
  config.set("label2id", std::move(ids));
  config.erase("num_labels");
  return {};
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

// --- Kinds of models ---

using ReadDecoder = Decoder (*)(Config &);
using ReadEncoder = Encoder (*)(Config &, Task);

static Status withoutTokenTypes(const Config &config) {
  return invalidInput(
      "{}: --token-types: expected a model with types of tokens (type_vocab_size of at least 2)",
      config.file());
}

/// Lets columns tell the texts of a row apart. Fails if a row of the model holds one text.
static Status usePackedRows(const Config &config, Decoder &decoder) {
  if (decoder.classifier)
    return invalidInput("{}: --packed: a classifier reads one text in each row; leave --packed out",
                        config.file());
  decoder.attention.hasSegments = true;
  decoder.positionsAreColumn = decoder.usesRope() || decoder.positions;
  return {};
}

/// The classifier on a decoder's last token.
static Head readScore(Config &config) {
  Head head;
  readLabels(config, Task::Classification, head);
  head.pooling = Head::Last;
  if (!config.has("pad_token_id"))
    config.fail(
        "'pad_token_id' is missing: expected the token of padding, after a text's last token; add it, as "
        "transformers needs it, too");
  head.padToken = config.size("pad_token_id", std::nullopt, 0);
  head.output = "score";
  head.hasBias = false;
  return head;
}

/// Fails if a matrix of a layer has more weights than any model: the number of parameters would overflow.
static Status checkSize(const Config &config, const Layers &layers) {
  constexpr double kMaxWeights = 1e12;
  const int64_t widest = std::max(layers.attention.queryWidth(), layers.mlp.width);
  if (double(layers.width) * double(widest) <= kMaxWeights)
    return {};
  return invalidInput("{}: expected matrices of at most 1e12 weights, found one of {} x {}", config.file(),
                      layers.width, widest);
}

static Result<ImportedModel> importDecoder(Config &config, ReadDecoder read, const Family &family,
                                           const Class &wanted, const ImportOptions &options) {
  if (options.hasTokenTypes)
    return withoutTokenTypes(config);
  Decoder decoder = read(config);
  decoder.family = family.type;
  decoder.architecture = wanted.name;
  decoder.partOf = config.composite();
  if (wanted.task == Task::Classification)
    decoder.classifier = readScore(config);
  TRAINC_RETURN_IF_ERROR(config.finish());
  TRAINC_RETURN_IF_ERROR(checkSize(config, decoder));
  if (options.isPacked)
    TRAINC_RETURN_IF_ERROR(usePackedRows(config, decoder));
  return ImportedModel{decoderText(decoder, exportedConfig(config.json(), wanted.name)), wanted.name,
                       decoder.parameters(), config.uses()};
}

static Result<ImportedModel> importEncoder(Config &config, ReadEncoder read, const Family &family,
                                           const Class &wanted, const ImportOptions &options) {
  if (options.isPacked)
    return invalidInput("{}: --packed: a row of an encoder holds one text or image; leave --packed out",
                        config.file());
  Encoder encoder = read(config, wanted.task);
  encoder.family = family.type;
  encoder.architecture = wanted.name;
  TRAINC_RETURN_IF_ERROR(config.finish());
  TRAINC_RETURN_IF_ERROR(checkSize(config, encoder));
  if (options.hasTokenTypes && (!encoder.types || encoder.types->count < 2))
    return withoutTokenTypes(config);
  if (options.hasTokenTypes)
    encoder.types->areColumn = true;
  return ImportedModel{encoderText(encoder, exportedConfig(config.json(), wanted.name)), wanted.name,
                       encoder.parameters(), config.uses()};
}

Result<ImportedModel> importModel(const std::string &file, std::string_view text,
                                  const ImportOptions &options) {
  TRAINC_ASSIGN_OR_RETURN(Config config, Config::parse(file, text, options.reading));
  TRAINC_ASSIGN_OR_RETURN(const Family *family, findFamily(config));
  TRAINC_RETURN_IF_ERROR(checkQuantization(config));
  TRAINC_ASSIGN_OR_RETURN(const Class wanted, classOf(config, *family, options.task));
  if (options.labels)
    TRAINC_RETURN_IF_ERROR(useLabels(config, classesOf(*family), wanted.task, *options.labels));
  config.require("is_encoder_decoder", false, "an encoder with a decoder is not supported");
  if (const auto *read = std::get_if<ReadDecoder>(&family->read))
    return importDecoder(config, *read, *family, wanted, options);
  return importEncoder(config, std::get<ReadEncoder>(family->read), *family, wanted, options);
}

} // namespace trainc::importer
