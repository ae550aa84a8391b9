#include "runtime/data/token_sidecar.h"

#include "runtime/base/file.h"
#include "runtime/base/input_file.h"
#include "runtime/base/json_text.h"
#include "runtime/data/token_file.h"

#include <charconv>

namespace trainc {

namespace {

using Json = nlohmann::json;

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

} // namespace

std::filesystem::path sidecarPath(const std::filesystem::path &tokenFile) {
  return tokenFile.string() + ".json";
}

Result<std::optional<TokenSidecar>> readTokenSidecar(const std::filesystem::path &tokenFile) {
  const std::filesystem::path path = sidecarPath(tokenFile);
  std::error_code error;
  if (!std::filesystem::exists(path, error))
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
  const Result<SafetensorsDType> parsed = parseTokenDType(*dtype);
  if (!parsed.ok())
    return invalidInput("{}: {}", path.string(), parsed.status().message());
  return std::optional(TokenSidecar{{*tokenizer, *xxh3}, *vocabulary, *parsed, *tokens});
}

Status writeTokenSidecar(const std::filesystem::path &tokenFile, const TokenSidecar &sidecar) {
  const Json json = {{"tokenizer", sidecar.tokenizer.name},
                     {"vocabulary", sidecar.vocabulary},
                     {"dtype", tokenDTypeName(sidecar.dtype)},
                     {"tokens", sidecar.tokens},
                     {"tokenizer_xxh3", fmt::format("{:016x}", sidecar.tokenizer.xxh3)}};
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  const std::array parts = {std::as_bytes(std::span(text))};
  return writeFileAtomically(sidecarPath(tokenFile), parts);
}

} // namespace trainc
