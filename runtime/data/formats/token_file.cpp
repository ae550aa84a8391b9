#include "runtime/data/formats/token_file.h"

#include "base/file.h"
#include "base/input_file.h"
#include "base/json_text.h"
#include "base/plain_text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <unistd.h>

namespace trainc {

namespace {

using Json = nlohmann::json;

constexpr const char *kContent = "xxh3"; ///< of the token file
constexpr const char *kEndToken = "end_token";

std::optional<uint64_t> readUnsigned(const Json &json, const char *key) {
  const auto field = json.find(key);
  if (field == json.end() || !field->is_number_unsigned())
    return std::nullopt;
  return field->get<uint64_t>();
}

std::optional<std::string> readString(const Json &json, const char *key) {
  const auto field = json.find(key);
  if (field == json.end() || !field->is_string())
    return std::nullopt;
  return field->get<std::string>();
}

std::optional<uint64_t> readHex(const Json &json, const char *key) {
  const auto text = readString(json, key);
  uint64_t value = 0;
  if (!text)
    return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value, 16);
  if (error != std::errc() || end != text->data() + text->size())
    return std::nullopt;
  return value;
}

Result<std::optional<uint64_t>> readContent(const std::filesystem::path &path, const Json &json) {
  const std::optional<uint64_t> content = readHex(json, kContent);
  if (!content && json.contains(kContent))
    return invalidInput("{}: expected the field {} to be a hexadecimal string", path.string(), kContent);
  return content;
}

} // namespace

std::filesystem::path sidecarPath(const std::filesystem::path &tokenFile) {
  return tokenFile.string() + ".json";
}

Result<std::optional<TokenSidecar>> readTokenSidecar(const std::filesystem::path &tokenFile) {
  const std::filesystem::path path = sidecarPath(tokenFile);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::symlink_status(path, error);
  if (status.type() == std::filesystem::file_type::not_found || error == std::errc::filename_too_long)
    return std::optional<TokenSidecar>();
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(path));
  const Json json = tryParseJson(text);
  if (!json.is_object())
    return invalidInput("{}: not a JSON object; delete it or write it again with `trainc tokenize`",
                        path.string());
  const auto tokenizer = readString(json, "tokenizer");
  const auto vocabulary = readUnsigned(json, "vocabulary");
  const auto dtype = readString(json, "dtype");
  const auto tokens = readUnsigned(json, "tokens");
  const auto xxh3 = readHex(json, "tokenizer_xxh3");
  const auto endToken = readString(json, kEndToken);
  if (!endToken && json.contains(kEndToken))
    return invalidInput("{}: expected the field {} to be a string", path.string(), kEndToken);
  if (!tokenizer || !vocabulary || !dtype || !tokens || !xxh3)
    return invalidInput(
        "{}: expected the fields tokenizer (string), vocabulary and tokens (integers), dtype (string) "
        "and tokenizer_xxh3 (hexadecimal string); '{}' is missing or of another type; delete the file or "
        "write it "
        "again with `trainc tokenize`",
        path.string(),
        !tokenizer    ? "tokenizer"
        : !vocabulary ? "vocabulary"
        : !dtype      ? "dtype"
        : !tokens     ? "tokens"
                      : "tokenizer_xxh3");
  if (*vocabulary == 0)
    return invalidInput(
        "{}: expected a vocabulary above 0, found 0; delete it or write it again with `trainc tokenize`",
        path.string());
  const Result<std::optional<uint64_t>> content = readContent(path, json);
  TRAINC_RETURN_IF_ERROR(content.status());
  const Result<SafetensorsDType> parsed = parseTokenDType(*dtype);
  if (!parsed.ok())
    return invalidInput("{}: {}", path.string(), parsed.status().message());
  if (*vocabulary - 1 > UINT64_MAX >> (64 - 8 * elementBytes(*parsed)))
    return invalidInput(
        "{}: {} cannot hold a vocabulary of {}; delete the JSON file or write it again with `trainc "
        "tokenize`",
        path.string(), *dtype, *vocabulary);
  return std::optional(
      TokenSidecar{{*tokenizer, *xxh3, endToken.value_or("")}, *vocabulary, *parsed, *tokens, *content});
}

Status writeTokenSidecar(const std::filesystem::path &tokenFile, const TokenSidecar &sidecar) {
  Json json = {{"tokenizer", sidecar.tokenizer.name},
               {"vocabulary", sidecar.vocabulary},
               {"dtype", tokenDTypeName(sidecar.dtype)},
               {"tokens", sidecar.tokens},
               {"tokenizer_xxh3", fmt::format("{:016x}", sidecar.tokenizer.xxh3)}};
  if (!sidecar.tokenizer.endToken.empty())
    json[kEndToken] = sidecar.tokenizer.endToken;
  if (sidecar.content)
    json[kContent] = fmt::format("{:016x}", *sidecar.content);
  const std::string text = printableJson(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
  const std::array parts = {std::as_bytes(std::span(text))};
  return writeFileAtomically(sidecarPath(tokenFile), parts);
}

namespace {

struct DTypeName {
  std::string_view name;
  SafetensorsDType dtype;
};
constexpr std::array<DTypeName, 3> kTokenDTypes = {{{"uint8", SafetensorsDType::kU8},
                                                    {"uint16", SafetensorsDType::kU16},
                                                    {"uint32", SafetensorsDType::kU32}}};

} // namespace

Result<SafetensorsDType> parseTokenDType(std::string_view name) {
  for (const DTypeName &known : kTokenDTypes)
    if (known.name == name)
      return known.dtype;
  return invalidInput("unknown token dtype '{}'; expected uint8, uint16 or uint32", name);
}

std::string_view tokenDTypeName(SafetensorsDType dtype) {
  for (const DTypeName &known : kTokenDTypes)
    if (known.dtype == dtype)
      return known.name;
  return dtypeName(dtype);
}

Result<TokenWriter> TokenWriter::open(std::filesystem::path path, SafetensorsDType dtype) {
  TRAINC_ASSIGN_OR_RETURN(path, replaceableFile(path));
  std::filesystem::path aside = fmt::format("{}.{}.tmp", path.string(), ::getpid());
  std::FILE *file = std::fopen(aside.c_str(), "wbe");
  if (!file)
    return failed("{}: cannot write: {}", path.string(), std::strerror(errno));
  return TokenWriter(std::move(path), std::move(aside), dtype, file);
}

TokenWriter::~TokenWriter() {
  if (file_)
    ::unlink(aside_.c_str());
}

Status TokenWriter::write(std::span<const uint32_t> ids) {
  count_ += ids.size();
  if (dtype_ != SafetensorsDType::kU16)
    return writeBytes(ids);
  const std::vector<uint16_t> narrow(ids.begin(), ids.end());
  return writeBytes<uint16_t>(narrow);
}

template <typename Id> Status TokenWriter::writeBytes(std::span<const Id> ids) {
  hash_.update(std::as_bytes(ids));
  const size_t written = std::fwrite(ids.data(), sizeof(Id), ids.size(), file_.get());
  return written == ids.size() ? Status() : systemError();
}

Status TokenWriter::sync() {
  const bool done = std::fflush(file_.get()) == 0 && ::fsync(::fileno(file_.get())) == 0;
  return done ? Status() : systemError();
}

Status TokenWriter::publish() {
  const Status status = publishFile(aside_, path_);
  if (status.ok())
    file_.reset();
  return status;
}

Status TokenWriter::systemError() const {
  return failed("{}: cannot write: {}", path_.string(), std::strerror(errno));
}

} // namespace trainc
