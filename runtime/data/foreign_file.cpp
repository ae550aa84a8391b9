#include "runtime/data/foreign_file.h"

#include "runtime/schema/plain_text.h"

#include <algorithm>

namespace trainc {

namespace {

/// Minimum length; shorter byte strings may look like text by chance.
constexpr size_t kFewestOfText = 32;
/// Minimum length of text in other encodings than UTF-8, whose single bytes are less certain.
constexpr size_t kFewestOfOtherText = 64;
/// Maximum bytes of the last character, which may be truncated.
constexpr size_t kMostBytesOfCharacter = 4;

constexpr std::string_view kFromNumpy =
    "in Python: safetensors.numpy.save_file({'NAME': array, ...}, 'data.safetensors')";
constexpr std::string_view kFromTorch =
    "in Python: safetensors.torch.save_file({'NAME': tensor, ...}, 'data.safetensors')";
constexpr std::string_view kTokensFromNumpy =
    "write its tokens in Python: array.astype('uint16').tofile('tokens.bin') (uint32 for a vocabulary above "
    "65536)";
constexpr std::string_view kExtractText = "write the text alone to a file, and make tokens of that: trainc "
                                          "tokenize --tokenizer=bytes TEXT -o tokens.bin";
constexpr std::string_view kRename = "give it a name that ends in .safetensors";
constexpr std::string_view kUnpack = "unpack it first";

/// Extensions of pickles, whose first bytes alone could be those of a token.
constexpr std::string_view kPickles[] = {".pt", ".pth", ".pkl", ".pickle"};

struct Magic {
  std::string_view bytes;
  ForeignKind kind;
};

constexpr ForeignKind kHdf5 = {"an HDF5 file", kTokensFromNumpy, kFromNumpy};
constexpr ForeignKind kPickle = {
    "a file of Python's pickle, as PyTorch writes it",
    "write its tokens in Python: tensor.numpy().astype('uint16').tofile('tokens.bin') "
    "(uint32 for a vocabulary above 65536)",
    kFromTorch};

constexpr Magic kMagics[] = {
    {{"PK\x03\x04", 4},
     {"a zip file, as torch.save and numpy.savez write it", kPickle.forTokens, kFromTorch}},
    {"\x93NUMPY", {"a NumPy array", kTokensFromNumpy, kFromNumpy}},
    {"\x89HDF", kHdf5},
    {"PAR1", {"a Parquet file", kExtractText, kFromNumpy}},
    {"ARROW1", {"an Arrow file", kExtractText, kFromNumpy}},
    {"\x1f\x8b\x08", {"a gzip file", kUnpack, kUnpack}},
    {"\x28\xb5\x2f\xfd", {"a Zstandard file", kUnpack, kUnpack}},
    {"TRNCPLAN",
     {"a plan", "name the plan first, then the data: trainrun PLAN --data FILE",
      "name the plan first, then the data: trainrun PLAN --data FILE"}},
};

constexpr std::string_view kTokenize =
    "make tokens of it: trainc tokenize --tokenizer=bytes TEXT -o tokens.bin";

struct TextKind {
  std::string_view extension;
  ForeignKind kind;
};

constexpr TextKind kTextKinds[] = {
    {".csv", {"text (CSV)", kExtractText, kFromNumpy, true}},
    {".tsv", {"text (TSV)", kExtractText, kFromNumpy, true}},
    {".json", {"text (JSON)", kExtractText, kFromNumpy, true}},
    {".jsonl", {"text (lines of JSON)", kExtractText, kFromNumpy, true}},
};
constexpr ForeignKind kText = {"text", kTokenize, kFromNumpy, true};
constexpr ForeignKind kUtf16Text = {
    "text in UTF-16",
    "save it as UTF-8, and make tokens of that: trainc tokenize --tokenizer=bytes TEXT -o tokens.bin",
    kFromNumpy, true};

/// Whether bytes are UTF-8 without control characters other than white space.
bool isText(std::string_view bytes) {
  if (bytes.size() < kFewestOfText)
    return false;
  for (size_t at = 0; at < bytes.size();) {
    const bool maybeCut = bytes.size() - at < kMostBytesOfCharacter;
    const char first = bytes[at];
    const std::optional<uint32_t> character = nextCharacter(bytes, at);
    if (!character)
      return maybeCut;
    if (isControl(*character) && std::string_view("\n\r\t\f").find(first) == std::string_view::npos)
      return false;
  }
  return true;
}

/// Whether a byte is a printable ASCII character or white space.
bool isAsciiText(char byte) {
  return (byte >= ' ' && byte <= '~') || std::string_view("\n\r\t\f").find(byte) != std::string_view::npos;
}

/// Whether nearly all bytes are ASCII text: Latin-1 and similar encodings, or UTF-8 with a few invalid bytes.
/// Tokens do not pass: every second byte of BPE tokens of a text is small, as is that of bytes as tokens.
bool isNearlyText(std::string_view bytes) {
  return bytes.size() >= kFewestOfOtherText &&
         static_cast<size_t>(std::ranges::count_if(bytes, isAsciiText)) >= bytes.size() - bytes.size() / 8;
}

/// Whether bytes are UTF-16 of mostly ASCII text after a byte-order mark.
bool isUtf16(std::string_view bytes) {
  const bool bigEndian = bytes.starts_with("\xfe\xff");
  if (bytes.size() < kFewestOfOtherText || (!bigEndian && !bytes.starts_with("\xff\xfe")))
    return false;
  size_t characters = 0;
  for (size_t at = 2; at + 1 < bytes.size(); at += 2)
    characters += bytes[at + !bigEndian] == '\0' && isAsciiText(bytes[at + bigEndian]);
  return characters >= bytes.size() / 2 - bytes.size() / 16;
}

/// A safetensors file begins with the length of a JSON object, eight bytes of which the last are zero.
bool isSafetensors(std::string_view bytes) {
  return bytes.size() > 10 && bytes.substr(4, 4) == std::string_view("\0\0\0\0", 4) &&
         bytes.substr(8, 2) == "{\"";
}

} // namespace

std::optional<ForeignKind> findForeignKind(std::string_view extension, std::span<const std::byte> head) {
  const std::string_view bytes(reinterpret_cast<const char *>(head.data()), head.size());
  for (const Magic &magic : kMagics)
    if (bytes.starts_with(magic.bytes))
      return magic.kind;
  if (bytes.starts_with('\x80') && std::ranges::find(kPickles, extension) != std::end(kPickles))
    return kPickle;
  if (isSafetensors(bytes))
    return ForeignKind{"a safetensors file", kRename, kRename};
  if (isUtf16(bytes))
    return kUtf16Text;
  if (!isText(bytes) && !isNearlyText(bytes))
    return std::nullopt;
  const auto found = std::ranges::find(kTextKinds, extension, &TextKind::extension);
  return found == std::end(kTextKinds) ? kText : found->kind;
}

} // namespace trainc
