// Any bytes as a config.json: an error with a message, or a model's text. Most mutations keep the text JSON:
// they give a key another value, or the value of another config.
#include "lib/Import/Import.h"

#include <cstdlib>
#include <cstring>
#include <random>

using namespace trainc;

using Json = nlohmann::json;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

/// Maximum bytes of a text: layers of one kind are written once, and at most 4096 may follow each other.
constexpr size_t kMaxText = size_t{8} << 20;

/// Values at the limits of what keys may have.
Json drawValue(std::minstd_rand &random) {
  static const Json kValues[] = {nullptr,
                                 true,
                                 false,
                                 -1,
                                 0,
                                 1,
                                 2,
                                 3,
                                 4096,
                                 1 << 24,
                                 INT64_MIN,
                                 UINT64_MAX,
                                 0.0,
                                 -0.5,
                                 1e-320,
                                 0.99,
                                 1e308,
                                 "",
                                 "gelu",
                                 "yarn",
                                 "longrope",
                                 "llama3",
                                 "linear",
                                 "regression",
                                 "multi_label_classification",
                                 Json::array(),
                                 Json::object(),
                                 {"sliding_attention", "full_attention"},
                                 {1.0, 2.0},
                                 {{"full_attention", {{"rope_theta", 1e4}}}}};
  return kValues[random() % std::size(kValues)];
}

/// Returns a value of an object, or of an object in it.
Json &drawMember(Json &object, std::minstd_rand &random) {
  auto member = object.begin();
  std::advance(member, random() % object.size());
  if (member->is_object() && !member->empty() && random() % 4 != 0)
    return drawMember(*member, random);
  return *member;
}

bool isConfig(const Json &json) { return json.is_object() && !json.empty(); }

Json parse(const uint8_t *data, size_t size) {
  return Json::parse(data, data + size, nullptr, /*allow_exceptions=*/false);
}

/// Writes a text; returns 0 if there is no room.
size_t write(const Json &json, uint8_t *data, size_t maxSize) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > maxSize)
    return 0;
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  Json config = parse(data, size);
  if (!isConfig(config) || random() % 8 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  drawMember(config, random) = drawValue(random);
  return write(config, data, maxSize);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t oneSize, const uint8_t *other,
                                            size_t otherSize, uint8_t *out, size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  Json config = parse(one, oneSize);
  const Json source = parse(other, otherSize);
  if (!isConfig(config) || !isConfig(source))
    return 0;
  auto member = source.begin();
  std::advance(member, random() % source.size());
  config[member.key()] = member.value();
  return write(config, out, maxSize);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  importer::ImportOptions own, newHead, packed;
  newHead.reading.keepsDropout = false;
  newHead.task = importer::Task::Classification;
  newHead.labels = 3;
  packed.isPacked = true;
  for (const importer::ImportOptions &options : {own, newHead, packed}) {
    const auto model = importer::importModel("config.json", text, options);
    if (!model.ok() && model.status().message().empty())
      std::abort();
    if (model.ok() && (model->parameters <= 0 || model->text.size() > kMaxText ||
                       model->text.find("train.program") == std::string::npos))
      std::abort();
  }
  return 0;
}
