// Files of tokens alone, as `trainc tokenize` writes them.
#include "runtime/data/formats/foreign_file.h"
#include "runtime/data/formats/megatron_index.h"
#include "runtime/data/formats/token_stream.h"
#include "runtime/data/formats/token_width.h"

#include <algorithm>
#include <cstring>

namespace trainc {

namespace {

constexpr uint64_t kVocabularyOfUint16 = 65536;

/// The width of raw tokens, and who says so, for messages.
struct Width {
  SafetensorsDType dtype;
  std::string by;
  bool isCertain; ///< the user or the sidecar says so
};

/// An index of Megatron that does not belong to the tokens matters unless --data-dtype says their width.
Result<Width> findWidth(const std::filesystem::path &path, uint64_t fileBytes,
                        const std::optional<TokenSidecar> &sidecar, const TokenFileOptions &options) {
  if (sidecar)
    return Width{sidecar->dtype, sidecarPath(path).string(), true};
  const Result<std::optional<MegatronIndex>> read = findMegatronIndex(path, fileBytes);
  if (!options.dtype)
    TRAINC_RETURN_IF_ERROR(read.status());
  const std::optional<MegatronIndex> index = read.ok() ? *read : std::nullopt;
  if (index && options.dtype && *options.dtype != index->dtype)
    return invalidInput("{}: {} says {}, --data-dtype says {}; leave --data-dtype out", path.string(),
                        index->path.string(), tokenDTypeName(index->dtype), tokenDTypeName(*options.dtype));
  if (options.dtype)
    return Width{*options.dtype, "--data-dtype", true};
  if (index)
    return Width{index->dtype, index->path.string(), false};
  const bool isWide = options.vocabulary > kVocabularyOfUint16;
  return Width{isWide ? SafetensorsDType::kU32 : SafetensorsDType::kU16,
               options.vocabulary == 0 ? "the default"
                                       : fmt::format("the model's vocabulary of {}", options.vocabulary),
               false};
}

/// Fails if most ids are beyond the model's vocabulary, as those of another tokenizer are. Single ones are
/// reported with their positions when they are read.
Status checkVocabulary(const std::string &file, const Width &width, std::span<const std::byte> head,
                       uint64_t vocabulary) {
  constexpr size_t kMinIds = 128; // fewer prove nothing
  const size_t bytes = elementBytes(width.dtype), ids = head.size() / bytes;
  if (vocabulary == 0 || ids < kMinIds)
    return {};
  size_t beyond = 0;
  uint32_t largest = 0;
  for (size_t i = 0; i < ids; ++i) {
    uint32_t id = 0; // little-endian, as the file
    std::memcpy(&id, head.data() + i * bytes, bytes);
    beyond += id >= vocabulary;
    largest = std::max(largest, id);
  }
  if (beyond <= ids / 2)
    return {};
  return invalidInput("{}: {} of the first {} tokens are beyond the model's vocabulary of {} (the largest is "
                      "{}); was the file made with another tokenizer, or with another --data-dtype than {}?",
                      file, beyond, ids, vocabulary, largest, tokenDTypeName(width.dtype));
}

Status checkWidth(const std::string &file, const Width &width, std::span<const std::byte> head,
                  uint64_t vocabulary) {
  if (width.isCertain)
    return {};
  const std::optional<OtherNumbers> found = findOtherNumbers(head, width.dtype, vocabulary);
  if (!found)
    return checkVocabulary(file, width, head, vocabulary);
  const std::string_view name = tokenDTypeName(width.dtype);
  const std::string repair =
      found->isTokenDType
          ? fmt::format("add {}, in which trainc tokenize records the width, or give --data-dtype={}, or",
                        sidecarPath(file).string(), found->name)
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

/// UTF-16 without a byte order mark looks like small ids, which are tokens of any vocabulary.
std::string doubtCharacters(const std::string &file, const Width &width, std::span<const std::byte> head,
                            uint64_t vocabulary) {
  if (width.isCertain || width.dtype != SafetensorsDType::kU16 || !mayBeUtf16(head, vocabulary))
    return {};
  return fmt::format(
      "{}: nearly all its tokens are codes of ASCII, as of a text in UTF-16; if it is one, "
      "convert it to UTF-8 and tokenize it with trainc tokenize, else give --data-dtype=uint16",
      file);
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
  TRAINC_ASSIGN_OR_RETURN(const Width chosen, findWidth(path, fileBytes, sidecar, options));
  const SafetensorsDType dtype = chosen.dtype;
  TRAINC_RETURN_IF_ERROR(checkWidth(file, chosen, head, options.vocabulary));
  const size_t width = elementBytes(dtype);
  if (fileBytes % width != 0)
    return invalidInput(
        "{}: byte {}: a file of {} bytes is not a whole number of {} tokens ({} bytes each); it may be "
        "truncated: copy or tokenize it again, or give --data-dtype=uint8 if each byte is a token",
        file, fileBytes - fileBytes % width, fileBytes, tokenDTypeName(dtype), width);
  TokenStream stream{dtype, 0, fileBytes / width};
  stream.warning = doubtZeros(file, head);
  if (stream.warning.empty())
    stream.warning = doubtCharacters(file, chosen, head, options.vocabulary);
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
