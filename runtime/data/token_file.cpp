#include "runtime/data/token_file.h"

#include "base/file.h"
#include "base/input_file.h"
#include "base/json_text.h"
#include "base/plain_text.h"
#include "runtime/data/foreign_file.h"
#include "runtime/data/token_width.h"

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

constexpr uint64_t kVocabularyOfUint16 = 65536;
/// Bytes of llm.c's header.
constexpr size_t kLlmcHeaderBytes = 1024;

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
  if (fileBytes < kLlmcHeaderBytes)
    return invalidInput("{}: byte {}: the header of llm.c's format takes {} bytes; the file is truncated",
                        file, fileBytes, kLlmcHeaderBytes);
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
  if (count < 0 || expected != fileBytes - kLlmcHeaderBytes)
    return invalidInput(
        "{}: byte 8: the header says {} tokens of {} bytes after the first {} bytes, found {} bytes; "
        "the file is truncated or damaged",
        file, count, elementBytes(dtype), kLlmcHeaderBytes, fileBytes - kLlmcHeaderBytes);
  return TokenStream{dtype, kLlmcHeaderBytes, static_cast<uint64_t>(count)};
}

/// The width of raw tokens, and who says so, for messages.
struct Width {
  SafetensorsDType dtype;
  std::string by;
  bool isCertain; ///< the user or the sidecar says so
};

/// The width that Megatron's index beside `path` says; nothing if there is none.
Result<std::optional<Width>> findMegatronWidth(const std::filesystem::path &path) {
  // A magic number of 9 bytes, a version of 8 bytes, and the code of a NumPy type.
  constexpr std::string_view kMagic("MMIDIDX\0\0", 9);
  constexpr size_t kCodeOffset = 17;
  constexpr uint8_t kUint8 = 1, kInt32 = 4, kUint16 = 8;
  std::filesystem::path index = path;
  index.replace_extension(".idx");
  std::error_code error;
  if (path.extension() != ".bin" || !std::filesystem::is_regular_file(index, error))
    return std::optional<Width>();
  TRAINC_ASSIGN_OR_RETURN(const InputFile file, InputFile::open(index));
  std::array<char, kCodeOffset + 1> head{};
  if (file.size() < head.size())
    return std::optional<Width>();
  TRAINC_RETURN_IF_ERROR(file.read(0, std::as_writable_bytes(std::span(head))));
  if (!std::string_view(head.data(), head.size()).starts_with(kMagic))
    return std::optional<Width>();
  switch (const auto code = static_cast<uint8_t>(head[kCodeOffset])) {
  case kUint8:
    return std::optional(Width{SafetensorsDType::kU8, index.string(), false});
  case kUint16:
    return std::optional(Width{SafetensorsDType::kU16, index.string(), false});
  case kInt32:
    return std::optional(Width{SafetensorsDType::kU32, index.string(), false});
  default:
    return invalidInput(
        "{}: byte {}: expected tokens of uint8 (1), int32 (4) or uint16 (8) in this index of Megatron, "
        "found the type {}; write the tokens of {} as one of these",
        index.string(), kCodeOffset, code, path.string());
  }
}

Result<Width> findWidth(const std::filesystem::path &path, const std::optional<TokenSidecar> &sidecar,
                        const TokenFileOptions &options) {
  if (sidecar)
    return Width{sidecar->dtype, sidecarPath(path).string(), true};
  TRAINC_ASSIGN_OR_RETURN(const std::optional<Width> megatron, findMegatronWidth(path));
  if (megatron && options.dtype && *options.dtype != megatron->dtype)
    return invalidInput("{}: {} says {}, --data-dtype says {}; leave --data-dtype out", path.string(),
                        megatron->by, tokenDTypeName(megatron->dtype), tokenDTypeName(*options.dtype));
  if (options.dtype)
    return Width{*options.dtype, "--data-dtype", true};
  if (megatron)
    return *megatron;
  const bool isWide = options.vocabulary > kVocabularyOfUint16;
  return Width{isWide ? SafetensorsDType::kU32 : SafetensorsDType::kU16,
               options.vocabulary == 0 ? "the default"
                                       : fmt::format("the model's vocabulary of {}", options.vocabulary),
               false};
}

Status checkWidth(const std::string &file, const Width &width, std::span<const std::byte> head,
                  uint64_t vocabulary) {
  if (width.isCertain)
    return {};
  const std::optional<OtherNumbers> found = findOtherNumbers(head, width.dtype, vocabulary);
  if (!found)
    return {};
  const std::string_view name = tokenDTypeName(width.dtype);
  const std::string repair =
      found->isTokenDType ? fmt::format("give --data-dtype={}, or", found->name)
      : found->numpyType.empty()
          ? "name a file of tokens, or give"
          : fmt::format("{}write it anew in Python: numpy.fromfile('FILE', '{}').astype('uint32')"
                        ".tofile('tokens.bin'), or give",
                        found->condition, found->numpyType);
  return invalidInput("{}: expected {} tokens, as {} says, but the file looks like {}; {} --data-dtype={} if "
                      "it is right",
                      file, name, width.by, found->name, repair, name);
}

/// A file that was allocated and never written, or copied in part, is full of zeros.
std::string doubtZeros(const std::string &file, std::span<const std::byte> head) {
  constexpr size_t kMinZeros = 1024;
  if (head.size() < kMinZeros ||
      std::ranges::any_of(head, [](std::byte byte) { return byte != std::byte{0}; }))
    return {};
  return fmt::format(
      "{}: its first {} bytes are all 0, the same token again and again; was the file copied or "
      "written to its end?",
      file, head.size());
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
  if (hasLlmcTokenHeader(head))
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
  TRAINC_ASSIGN_OR_RETURN(const Width chosen, findWidth(path, sidecar, options));
  const SafetensorsDType dtype = chosen.dtype;
  TRAINC_RETURN_IF_ERROR(checkWidth(file, chosen, head, options.vocabulary));
  const size_t width = elementBytes(dtype);
  if (fileBytes % width != 0)
    return invalidInput(
        "{}: byte {}: a file of {} bytes is no whole number of {} tokens ({} bytes each); set "
        "--data-dtype or repair the file",
        file, fileBytes - fileBytes % width, fileBytes, tokenDTypeName(dtype), width);
  TokenStream stream{dtype, 0, fileBytes / width};
  stream.warning = doubtZeros(file, head);
  if (sidecar) {
    stream.content = sidecar->content;
    stream.vocabulary = sidecar->vocabulary;
  }
  return stream;
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
