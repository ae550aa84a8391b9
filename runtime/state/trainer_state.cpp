#include "runtime/state/trainer_state.h"

#include "runtime/base/hash.h"
#include "runtime/base/json_text.h"

namespace trainc {

namespace {

using Json = nlohmann::json;

constexpr uint64_t kFormat = 1;
constexpr const char *kChecksumKey = "xxh3";
constexpr const char *kHeaderKey = "header_xxh3";

std::string hex(uint64_t checksum) { return fmt::format("{:016x}", checksum); }

uint64_t parseHex(const Json &value) { return std::stoull(value.get<std::string>(), nullptr, 16); }

/// Of the JSON without its own checksum; nlohmann keeps keys sorted, so the text is canonical.
std::string checksumOf(const Json &json) {
  const std::string text = json.dump();
  return hex(xxh3(std::as_bytes(std::span(text))));
}

Json fileToJson(const FileChecksums &file) {
  Json json = {{"bytes", file.bytes}, {"xxh3", hex(file.file)}, {kHeaderKey, hex(file.header)}};
  for (const auto &[name, checksum] : file.tensors)
    json["tensors"][name] = hex(checksum);
  return json;
}

FileChecksums fileFromJson(const Json &json) {
  FileChecksums file{json.at("bytes").get<uint64_t>(), parseHex(json.at("xxh3")), 0, {}};
  const Json tensors = json.value("tensors", Json::object());
  // A file without tensors is all header; earlier versions did not record it then.
  file.header = tensors.empty() && !json.contains(kHeaderKey) ? file.file : parseHex(json.at(kHeaderKey));
  for (const auto &[name, checksum] : tensors.items())
    file.tensors[name] = parseHex(checksum);
  return file;
}

TrainerState stateFromJson(const Json &json) {
  TrainerState state;
  state.plan = json.at("plan").get<std::string>();
  state.step = json.at("step").get<uint64_t>();
  state.seed = json.at("seed").get<uint64_t>();
  state.shuffle = json.at("shuffle").get<bool>();
  state.samples = json.at("samples").get<uint64_t>();
  state.tokens = json.at("tokens").get<uint64_t>();
  state.dataSamples = json.at("data_samples").get<uint64_t>();
  state.environment = json.at("environment").get<std::map<std::string, std::string>>();
  for (const auto &[name, file] : json.at("files").items())
    state.files[name] = fileFromJson(file);
  return state;
}

} // namespace

std::string TrainerState::toJson() const {
  Json json = {{"format", kFormat},
               {"producer", "trainrun " TRAINC_VERSION},
               {"plan", plan},
               {"step", step},
               {"seed", seed},
               {"shuffle", shuffle},
               {"samples", samples},
               {"tokens", tokens},
               {"data_samples", dataSamples},
               {"environment", environment}};
  for (const auto &[name, file] : files)
    json["files"][name] = fileToJson(file);
  json[kChecksumKey] = checksumOf(json);
  return json.dump(1) + "\n";
}

Result<TrainerState> TrainerState::fromJson(const std::string &path, std::string_view text) {
  Json json = tryParseJson(text);
  if (!json.is_object())
    return invalidInput("{}: not a JSON object; the checkpoint is damaged, use an older one", path);
  const Json format = json.value("format", Json());
  if (format.is_number_unsigned() && format.get<uint64_t>() > kFormat)
    return invalidInput(
        "{}: checkpoint format {}; this trainrun reads formats up to {}: use a newer trainrun", path,
        format.get<uint64_t>(), kFormat);
  const Json recorded = json.value(kChecksumKey, Json());
  json.erase(kChecksumKey);
  if (const std::string actual = checksumOf(json); recorded != actual)
    return invalidInput(
        "{}: checksum mismatch: recorded {}, found {}; the checkpoint is damaged, use an older one", path,
        recorded.dump(), actual);
  try {
    return stateFromJson(json);
  } catch (const std::exception &error) { // nlohmann and stoull report by exception; none leaves this file
    return invalidInput("{}: not a trainer state: {}", path, error.what());
  }
}

} // namespace trainc
