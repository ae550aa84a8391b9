#include "runtime/data/token_file.h"

#include "runtime/base/file.h"
#include "runtime/base/input_file.h"
#include "runtime/base/json_text.h"
#include "runtime/data/foreign_file.h"
#include "runtime/schema/plain_text.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <unistd.h>

namespace trainc {

namespace {

using Json = nlohmann::json;

constexpr const char *kContent = "xxh3"; ///< of the token file

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
  if (!tokenizer || !vocabulary || !dtype || !tokens || !xxh3)
    return invalidInput(
        "{}: expected the fields tokenizer (string), vocabulary and tokens (integers), dtype (string) "
        "and tokenizer_xxh3 (hexadecimal string); '{}' is missing or of another type",
        path.string(),
        !tokenizer    ? "tokenizer"
        : !vocabulary ? "vocabulary"
        : !dtype      ? "dtype"
        : !tokens     ? "tokens"
                      : "tokenizer_xxh3");
  if (*vocabulary == 0)
    return invalidInput(
        "{}: expected a vocabulary above 0, found 0; delete it or write it again with `trainc "
        "tokenize`",
        path.string());
  const Result<std::optional<uint64_t>> content = readContent(path, json);
  TRAINC_RETURN_IF_ERROR(content.status());
  const Result<SafetensorsDType> parsed = parseTokenDType(*dtype);
  if (!parsed.ok())
    return invalidInput("{}: {}", path.string(), parsed.status().message());
  return std::optional(TokenSidecar{{*tokenizer, *xxh3}, *vocabulary, *parsed, *tokens, *content});
}

Status writeTokenSidecar(const std::filesystem::path &tokenFile, const TokenSidecar &sidecar) {
  Json json = {{"tokenizer", sidecar.tokenizer.name},
               {"vocabulary", sidecar.vocabulary},
               {"dtype", tokenDTypeName(sidecar.dtype)},
               {"tokens", sidecar.tokens},
               {"tokenizer_xxh3", fmt::format("{:016x}", sidecar.tokenizer.xxh3)}};
  if (sidecar.content)
    json[kContent] = fmt::format("{:016x}", *sidecar.content);
  const std::string text = printableJson(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
  const std::array parts = {std::as_bytes(std::span(text))};
  return writeFileAtomically(sidecarPath(tokenFile), parts);
}

namespace {

constexpr int32_t kMagic = 20240520;
constexpr uint64_t kVocabularyOfUint16 = 65536;

struct DTypeName {
  std::string_view name;
  SafetensorsDType dtype;
};
constexpr std::array<DTypeName, 3> kTokenDTypes = {{{"uint8", SafetensorsDType::kU8},
                                                    {"uint16", SafetensorsDType::kU16},
                                                    {"uint32", SafetensorsDType::kU32}}};

int32_t headerField(std::span<const std::byte> head, size_t index) {
  int32_t value = 0;
  std::memcpy(&value, head.data() + index * sizeof(int32_t), sizeof(int32_t));
  return value;
}

Result<TokenStream> readWithHeader(const std::string &file, std::span<const std::byte> head,
                                   uint64_t fileBytes, const TokenFileOptions &options) {
  if (fileBytes < kTokenHeaderBytes)
    return invalidInput("{}: byte {}: the header of llm.c's format takes {} bytes; the file is truncated",
                        file, fileBytes, kTokenHeaderBytes);
  const int32_t version = headerField(head, 1);
  if (version != 1 && version != 7)
    return invalidInput("{}: byte 4: expected version 1 (uint16) or 7 (uint32) of llm.c's format, found {}",
                        file, version);
  const auto dtype = version == 1 ? SafetensorsDType::kU16 : SafetensorsDType::kU32;
  if (options.dtype && *options.dtype != dtype)
    return invalidInput("{}: byte 4: the header says {}, --data-dtype says {}; leave --data-dtype out", file,
                        tokenDTypeName(dtype), tokenDTypeName(*options.dtype));
  const int32_t count = headerField(head, 2);
  const uint64_t expected = static_cast<uint64_t>(std::max(count, 0)) * elementBytes(dtype);
  if (count < 0 || expected != fileBytes - kTokenHeaderBytes)
    return invalidInput(
        "{}: byte 8: the header says {} tokens of {} bytes after the first {} bytes, found {} bytes; "
        "the file is truncated or damaged",
        file, count, elementBytes(dtype), kTokenHeaderBytes, fileBytes - kTokenHeaderBytes);
  return TokenStream{dtype, kTokenHeaderBytes, static_cast<uint64_t>(count)};
}

SafetensorsDType rawDType(const std::optional<TokenSidecar> &sidecar, const TokenFileOptions &options) {
  if (sidecar)
    return sidecar->dtype;
  if (options.dtype)
    return *options.dtype;
  return options.vocabulary > kVocabularyOfUint16 ? SafetensorsDType::kU32 : SafetensorsDType::kU16;
}

Status checkDType(const std::filesystem::path &path, const TokenSidecar &sidecar,
                  const TokenFileOptions &options) {
  if (!options.dtype || *options.dtype == sidecar.dtype)
    return {};
  return invalidInput("{}: {} says {}, --data-dtype says {}; leave --data-dtype out, or delete the JSON file "
                      "if it belongs to other data",
                      path.string(), sidecarPath(path).string(), tokenDTypeName(sidecar.dtype),
                      tokenDTypeName(*options.dtype));
}

/// Detects by its size a file that was truncated, or replaced without its sidecar.
Status checkSize(const std::filesystem::path &path, const TokenSidecar &sidecar, uint64_t bytes) {
  const uint64_t width = elementBytes(sidecar.dtype);
  if (bytes % width == 0 && bytes / width == sidecar.tokens)
    return {};
  return invalidInput(
      "{}: expected {} tokens of {} bytes, as {} says, found {} bytes; the file is truncated or another one: "
      "copy or tokenize it again, or delete the JSON file",
      path.string(), sidecar.tokens, width, sidecarPath(path).string(), bytes);
}

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

Result<TokenStream> readTokenStream(const std::filesystem::path &path, std::span<const std::byte> head,
                                    uint64_t fileBytes, const TokenFileOptions &options) {
  const std::string file = path.string();
  if (head.size() >= sizeof(int32_t) && headerField(head, 0) == kMagic)
    return readWithHeader(file, head, fileBytes, options);
  TRAINC_ASSIGN_OR_RETURN(const std::optional<TokenSidecar> sidecar, readTokenSidecar(path));
  if (sidecar) {
    TRAINC_RETURN_IF_ERROR(checkDType(path, *sidecar, options));
    TRAINC_RETURN_IF_ERROR(checkSize(path, *sidecar, fileBytes));
  }
  const std::optional<ForeignKind> foreign = findForeignKind(path.extension().string(), head);
  if (foreign && !sidecar && !(foreign->isText && options.dtype == SafetensorsDType::kU8))
    return invalidInput("{}: expected a file of tokens or a .safetensors file, found {}; {}", file,
                        foreign->name, foreign->forTokens);
  const SafetensorsDType dtype = rawDType(sidecar, options);
  const size_t width = elementBytes(dtype);
  if (fileBytes % width != 0)
    return invalidInput(
        "{}: byte {}: a file of {} bytes is no whole number of {} tokens ({} bytes each); set "
        "--data-dtype or repair the file",
        file, fileBytes - fileBytes % width, fileBytes, tokenDTypeName(dtype), width);
  return TokenStream{dtype, 0, fileBytes / width, sidecar ? sidecar->content : std::nullopt};
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
