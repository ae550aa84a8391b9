// Files of tokens alone, as `trainc tokenize` writes them.
#include "base/input_file.h"
#include "runtime/data/formats/foreign_file.h"
#include "runtime/data/formats/token_stream.h"
#include "runtime/data/formats/token_width.h"

#include <algorithm>
#include <array>

namespace trainc {

namespace {

constexpr uint64_t kVocabularyOfUint16 = 65536;

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

Result<TokenStream> findRawTokens(const std::filesystem::path &path, std::span<const std::byte> head,
                                  uint64_t fileBytes, const TokenFileOptions &options) {
  const std::string file = path.string();
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

extern const DataFormat kRawFormat = {
    .recognises = [](const DataSource &) { return true; },
    .open =
        [](DataSource source, const std::vector<ColumnSpec> &columns, const TokenFileOptions &options) {
          return openTokens(std::move(source), columns, options, findRawTokens);
        },
};

} // namespace trainc
