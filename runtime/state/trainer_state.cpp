#include "runtime/state/trainer_state.h"

#include "base/hash.h"
#include "base/json_text.h"
#include "plan/facts/schedules.h"

namespace trainc {

namespace {

using Json = nlohmann::json;

/// 2: checksums of blocks of tensors. 1: checksums of whole tensors and whole files.
constexpr uint64_t kFormat = 2;
constexpr const char *kChecksumKey = "xxh3";
constexpr const char *kHeaderKey = "header_xxh3";
constexpr const char *kBlockKey = "block_bytes";
constexpr const char *kBlocksKey = "blocks_xxh3";
constexpr const char *kCourseKey = "learning_rate", *kTotalKey = "has_total";

std::string hex(uint64_t checksum) { return fmt::format("{:016x}", checksum); }

uint64_t parseHex(const Json &value) { return std::stoull(value.get<std::string>(), nullptr, 16); }

/// The library would round 1.5, and convert -1 to a large number.
uint64_t count(const Json &json, const char *key) {
  const Json &value = json.at(key);
  if (!value.is_number_unsigned())
    throw std::out_of_range(
        fmt::format("'{}' must be a whole number of 0 or more, found {}", key, value.dump(-1, ' ', true)));
  return value.get<uint64_t>();
}

/// Checksum of the JSON without its own checksum; nlohmann sorts keys, so the text is canonical.
std::string checksumOf(const Json &json) {
  const std::string text = json.dump();
  return hex(xxh3(std::as_bytes(std::span(text))));
}

Json fileToJson(const FileChecksums &file) {
  Json json = {{"bytes", file.bytes}, {kHeaderKey, hex(file.header)}};
  if (file.tensors.empty())
    return json;
  json[kBlockKey] = file.blockBytes;
  for (const auto &[name, checksums] : file.tensors) {
    Json &blocks = json["tensors"][name] = Json::array();
    for (const uint64_t checksum : checksums)
      blocks.push_back(hex(checksum));
  }
  return json;
}

/// Format 1: one checksum for each tensor and one for the file. The latter is used only for files without
/// tensors, which consist of header bytes.
FileChecksums firstFormatFromJson(const Json &json) {
  FileChecksums file{.bytes = count(json, "bytes"),
                     .header = parseHex(json.at(json.contains(kHeaderKey) ? kHeaderKey : "xxh3")),
                     .blockBytes = FileChecksums::kWholeTensors};
  const Json tensors = json.value("tensors", Json::object());
  for (const auto &[name, checksum] : tensors.items())
    file.tensors[name] = {parseHex(checksum)};
  return file;
}

FileChecksums fileFromJson(const Json &json) {
  FileChecksums file{.bytes = count(json, "bytes"), .header = parseHex(json.at(kHeaderKey))};
  if (!json.contains("tensors"))
    return file;
  file.blockBytes = count(json, kBlockKey);
  if (file.blockBytes == 0)
    throw std::out_of_range("blocks of no bytes");
  for (const auto &[name, checksums] : json.at("tensors").items()) {
    std::vector<uint64_t> &blocks = file.tensors[name]; // a tensor without elements has none
    for (const Json &checksum : checksums)
      blocks.push_back(parseHex(checksum));
  }
  return file;
}

Json dataToJson(const std::vector<FileIdentity> &data) {
  Json files = Json::array();
  for (const FileIdentity &file : data) {
    Json &json = files.emplace_back(Json{{"bytes", file.bytes}, {kBlocksKey, hex(file.blocks)}});
    if (file.content)
      json[kChecksumKey] = hex(*file.content);
  }
  return files;
}

std::vector<FileIdentity> dataFromJson(const Json &json) {
  std::vector<FileIdentity> data;
  for (const Json &file : json) {
    FileIdentity &each = data.emplace_back(FileIdentity{count(file, "bytes"), parseHex(file.at(kBlocksKey))});
    if (file.contains(kChecksumKey))
      each.content = parseHex(file.at(kChecksumKey));
  }
  return data;
}

Json courseToJson(const LearningRateCourse &course) {
  const ScheduleFormula &formula = formulaOf(course.kind);
  Json json = {{"schedule", formula.name},
               {"peak", course.peak},
               {"steps", course.steps},
               {kTotalKey, course.hasTotal}};
  for (size_t i = 0; i < formula.numbers.size(); ++i)
    json[std::string(formula.numbers[i].word)] = course.numbers[i];
  return json;
}

/// Nothing for a schedule that only later versions know.
std::optional<LearningRateCourse> courseFromJson(const Json &json) {
  const auto name = json.at("schedule").get<std::string>();
  const std::optional<fb::ScheduleKind> kind = findSchedule(name);
  if (!kind)
    return std::nullopt;
  std::vector<double> numbers; // earlier versions did not record all
  for (const ScheduleNumber &number : formulaOf(*kind).numbers) {
    numbers.push_back(json.value(std::string(number.word), number.standard));
    if (!expectedOf(number.range, numbers.back()).empty())
      throw std::out_of_range(fmt::format("'{}' of the learning rate is {}", number.word, numbers.back()));
  }
  return LearningRateCourse{.kind = *kind,
                            .peak = json.at("peak").get<double>(),
                            .numbers = std::move(numbers),
                            .steps = count(json, "steps"),
                            .hasTotal = json.value(kTotalKey, false)};
}

TrainerState stateFromJson(const Json &json) {
  TrainerState state;
  state.plan = json.at("plan").get<std::string>();
  state.step = count(json, "step");
  state.skippedSteps = json.contains("skipped_steps") ? count(json, "skipped_steps") : 0;
  if (state.skippedSteps > state.step)
    throw std::out_of_range("more steps are skipped than done");
  state.seed = count(json, "seed");
  state.shuffle = json.at("shuffle").get<bool>();
  state.samples = count(json, "samples");
  state.tokens = count(json, "tokens");
  state.dataSamples = count(json, "data_samples");
  state.data = dataFromJson(json.value("data", Json::array()));
  if (json.contains(kCourseKey))
    state.learningRate = courseFromJson(json.at(kCourseKey));
  state.environment = json.at("environment").get<std::map<std::string, std::string>>();
  for (const auto &[name, file] : json.at("files").items())
    state.files[name] = count(json, "format") == 1 ? firstFormatFromJson(file) : fileFromJson(file);
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
  if (skippedSteps > 0)
    json["skipped_steps"] = skippedSteps;
  if (learningRate)
    json[kCourseKey] = courseToJson(*learningRate);
  if (!data.empty())
    json["data"] = dataToJson(data);
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
