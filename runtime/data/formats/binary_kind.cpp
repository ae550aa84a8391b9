#include "runtime/data/formats/binary_kind.h"

#include "base/lfs_pointer.h"
#include "runtime/formats/weight_files.h"

#include <algorithm>
#include <array>

namespace trainc {

namespace {

constexpr std::string_view kFromTorch =
    "in Python: safetensors.torch.save_file({'NAME': tensor, ...}, 'data.safetensors')";
constexpr std::string_view kTokensFromNumpy =
    "write its tokens in Python: array.astype('uint16').tofile('tokens.bin') (uint32 for a vocabulary above "
    "65536)";
constexpr std::string_view kTokensFromTorch =
    "write its tokens in Python: tensor.numpy().astype('uint16').tofile('tokens.bin') "
    "(uint32 for a vocabulary above 65536)";
constexpr std::string_view kExtract = "write the text alone to a file in UTF-8";
constexpr std::string_view kRename = "give it a name that ends in .safetensors";
constexpr std::string_view kUnpack = "unpack it first";
constexpr std::string_view kNameText = "name the file of the text";
constexpr std::string_view kPlanFirst = "name the plan first, then the data: trainrun PLAN --data FILE";

constexpr ForeignKind packed(std::string_view name) {
  return {name, kUnpack, kUnpack, kUnpack, false, kUnpack};
}
constexpr ForeignKind document(std::string_view name) { return {name, kExtractText, kFromNumpy, kExtract}; }
constexpr ForeignKind noData(std::string_view name) { return {name, kNameData, kNameData, kNameText}; }

constexpr ForeignKind kHdf5 = {"an HDF5 file", kTokensFromNumpy, kFromNumpy, kExtract};
constexpr ForeignKind kPickle = {"a file of Python's pickle, as PyTorch writes it",
                                 kTokensFromTorch,
                                 kFromTorch,
                                 kExtract,
                                 false,
                                 kWeightsFromTorch};
constexpr ForeignKind kSafetensors = {"a safetensors file", kRename, kRename, kExtract};
constexpr ForeignKind kMegatronIndex = {"an index of Megatron", "name the .bin file beside it",
                                        "name a .safetensors file", kNameText};

constexpr ForeignKind kZip = {"a zip file, as torch.save and numpy.savez write it",
                              kTokensFromTorch,
                              kFromTorch,
                              kUnpack,
                              false,
                              kWeightsFromTorch};

/// Weights of this kind are read, so an error of the file itself says what is wrong.
constexpr ForeignKind kGguf = {"a GGUF file of weights", kNameData, kNameData, kNameText, false, ""};

constexpr std::string_view kSwap =
    "write its tokens in little-endian order, in Python: numpy.fromfile('FILE', '>u2')[512:].astype('uint16')"
    ".tofile('tokens.bin') ('>u4', 256 and 'uint32' if they have 32 bits)";
constexpr ForeignKind kBigEndianLlmc = {"a file with llm.c's header in big-endian order", kSwap, kNameData,
                                        kNameText};

/// The begin of a file, and what its name says.
struct Head {
  std::string_view extension; ///< in lower case
  std::string_view bytes;
  bool isText;
};

/// A safetensors file begins with the length of a JSON object, eight bytes of which the last are zero.
bool isSafetensors(const Head &head) {
  const std::string_view bytes = head.bytes;
  return bytes.size() > 10 && bytes.substr(4, 4) == std::string_view("\0\0\0\0", 4) &&
         bytes.substr(8, 2) == "{\"";
}

/// A stream of Arrow messages, as Hugging Face's datasets are stored, begins with a mark, the size of the
/// first message, and the root offset of a flatbuffer.
bool isArrowStream(const Head &head) {
  const std::string_view bytes = head.bytes;
  return bytes.size() >= 12 && wordAt(bytes, 0) == 0xffffffff && wordAt(bytes, 1) % 8 == 0 &&
         wordAt(bytes, 1) < (1U << 24) && wordAt(bytes, 2) == 16;
}

/// A pickle of protocol 4 or 5 begins with a frame, whose size takes 8 bytes.
bool isFramedPickle(const Head &head) {
  const std::string_view bytes = head.bytes;
  return bytes.size() > 11 && (bytes.starts_with("\x80\x04\x95") || bytes.starts_with("\x80\x05\x95")) &&
         bytes.substr(7, 4) == std::string_view("\0\0\0\0", 4);
}

/// A pickle of protocol 2 or 3 begins with a list or dictionary that is memorized as the first object, with a
/// tuple, or with the name of a class.
bool isOldPickle(const Head &head) {
  std::string_view bytes = head.bytes;
  if (!bytes.starts_with("\x80\x02") && !bytes.starts_with("\x80\x03"))
    return false;
  bytes.remove_prefix(2);
  if (bytes.starts_with(std::string_view("]q\0", 3)) || bytes.starts_with(std::string_view("}q\0", 3)))
    return true;
  if (bytes.starts_with('('))
    return bytes.size() > 1 && std::string_view("KMJGX]}(c").find(bytes[1]) != std::string_view::npos;
  constexpr size_t kMinName = 3, kMaxName = 128;
  const size_t end = bytes.substr(0, kMaxName).find('\n');
  return bytes.starts_with('c') && end != std::string_view::npos && end > kMinName &&
         std::ranges::all_of(bytes.substr(1, end - 1), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                  c == '.';
         });
}

/// Only the extension tells a pickle whose first bytes could be those of a token.
bool isNamedPickle(const Head &head) {
  constexpr std::string_view kPickles[] = {".pt", ".pth", ".pkl", ".pickle"};
  return head.bytes.starts_with('\x80') && std::ranges::find(kPickles, head.extension) != std::end(kPickles);
}

/// A pickle of protocol 0 is text: a mark, an empty list or dictionary, and its number, 0 or 1.
bool isTextPickle(const Head &head) {
  const std::string_view bytes = head.bytes;
  return (bytes.starts_with("(lp") || bytes.starts_with("(dp")) && bytes.size() > 5 &&
         (bytes[3] == '0' || bytes[3] == '1') && bytes[4] == '\n';
}

/// A model of SentencePiece is a protocol buffer: fields of pieces, each a text, a score of 32 bits, and
/// perhaps a type. Pieces at its beginning take less than 128 bytes.
bool isSentencePiece(const Head &head) {
  std::string_view bytes = head.bytes;
  constexpr size_t kPieces = 4, kScoreBytes = 5;
  for (size_t piece = 0; piece < kPieces; ++piece) {
    if (bytes.size() < 4 || bytes[0] != '\n' || bytes[2] != '\n')
      return false;
    const size_t whole = static_cast<uint8_t>(bytes[1]), text = static_cast<uint8_t>(bytes[3]);
    const size_t score = 4 + text, end = 2 + whole;
    if (whole >= 128 || score + kScoreBytes > end || end > bytes.size() || bytes[score] != '\x15')
      return false;
    bytes.remove_prefix(end);
  }
  return true;
}

/// CRC-32C of bytes (RFC 3720, section 12.1).
uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78U : 0);
  }
  return ~crc;
}

/// A file of TFRecords begins with the length of a record and its checksum, which is rotated and displaced.
bool isTfRecord(const Head &head) {
  constexpr size_t kLengthBytes = 8;
  if (head.bytes.size() < kLengthBytes + sizeof(uint32_t))
    return false;
  const uint32_t crc = crc32c(head.bytes.substr(0, kLengthBytes));
  return wordAt(head.bytes, 2) == (crc >> 15 | crc << 17) + 0xa282ead8U;
}

/// A file of compress begins with two bytes and one of the number of bits of its codes, from 9 to 16, with
/// the highest bit set.
bool isCompress(const Head &head) {
  const std::string_view bytes = head.bytes;
  const uint8_t codes = bytes.size() > 2 ? static_cast<uint8_t>(bytes[2]) : 0;
  return bytes.starts_with("\x1f\x9d") && codes >= 0x80 + 9 && codes <= 0x80 + 16;
}

/// A zlib stream has two bytes of header alone, which tokens may have, too; the bytes after it are about
/// equally frequent, those of tokens are not.
bool isZlib(const Head &head) {
  const std::string_view bytes = head.bytes;
  constexpr size_t kMinBytes = 512;
  if (bytes.size() < kMinBytes || bytes[0] != '\x78' ||
      (bytes[1] != '\x01' && bytes[1] != '\x5e' && bytes[1] != '\x9c' && bytes[1] != '\xda'))
    return false;
  std::array<size_t, 256> counts{};
  for (const char byte : bytes)
    ++counts[static_cast<uint8_t>(byte)];
  return std::ranges::max(counts) <= bytes.size() / 64 + 8;
}

/// A program of Windows begins as one of DOS, which says where the newer header is.
bool isWindowsProgram(const Head &head) {
  const std::string_view bytes = head.bytes;
  constexpr size_t kOffset = 0x3c;
  if (!bytes.starts_with("MZ") || bytes.size() < kOffset + sizeof(uint32_t))
    return false;
  const uint32_t header = wordAt(bytes, kOffset / sizeof(uint32_t));
  return header < bytes.size() && bytes.substr(header).starts_with(std::string_view("PE\0\0", 4));
}

/// Magic numbers of llm.c's files of tokens.
constexpr uint32_t kLlmcTokens = 20240520, kLlmcTokensOfLlama3 = 20240801;

/// Whether a number is a date as llm.c's magic numbers are, such as 20240520.
bool isDate(uint32_t number) {
  const uint32_t year = number / 10000, month = number / 100 % 100, day = number % 100;
  return year >= 2024 && year <= 2030 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/// llm.c's files begin with 256 numbers of 32 bits: a date as magic number, a version, some sizes, zeros.
bool hasLlmcHeader(std::string_view bytes, bool isSwapped) {
  constexpr size_t kNumbers = 256, kMaxSizes = 32;
  if (bytes.size() < kNumbers * sizeof(uint32_t))
    return false;
  const uint32_t magic = wordAt(bytes, 0);
  if (isDate(magic) == isSwapped || !isDate(isSwapped ? swappedBytes(magic) : magic))
    return false;
  for (size_t i = kMaxSizes; i < kNumbers; ++i)
    if (wordAt(bytes, i) != 0)
      return false;
  return true;
}

bool isBigEndianLlmc(const Head &head) { return hasLlmcHeader(head.bytes, /*isSwapped=*/true); }

template <uint32_t... Magics> bool isLlmc(const Head &head) {
  const uint32_t magic = head.bytes.size() < sizeof(uint32_t) ? 0 : wordAt(head.bytes, 0);
  return ((magic == Magics) || ...) && hasLlmcHeader(head.bytes, /*isSwapped=*/false);
}

/// Whether a file has a header like llm.c's, with the magic number of no known file.
bool isUnknownLlmc(const Head &head) {
  return hasLlmcHeader(head.bytes, /*isSwapped=*/false) && !isLlmc<kLlmcTokens, kLlmcTokensOfLlama3>(head);
}

/// How a kind of file is recognised: by bytes at an offset, or by `matches`.
struct Signature {
  std::string_view bytes;
  ForeignKind kind;
  size_t offset = 0;
  bool mayBeText = false; ///< a text may begin so
  bool (*matches)(const Head &head) = nullptr;

  constexpr Signature(std::string_view bytes, ForeignKind kind, size_t offset = 0, bool mayBeText = false)
      : bytes(bytes), kind(kind), offset(offset), mayBeText(mayBeText) {}
  constexpr Signature(bool (*matches)(const Head &head), ForeignKind kind) : kind(kind), matches(matches) {}

  bool fits(const Head &head) const {
    if (matches)
      return matches(head);
    return head.bytes.size() > offset && head.bytes.substr(offset).starts_with(bytes) &&
           !(mayBeText && head.isText);
  }
};

/// All kinds of binary files, in the order in which they are tried: bytes that are certain first.
constexpr Signature kSignatures[] = {
    {{"PK\x03\x04", 4}, kZip},
    {{"PK\x05\x06\0\0", 6}, kZip}, // an empty one
    {"\x93NUMPY", {"a NumPy array", kTokensFromNumpy, kFromNumpy, kExtract}},
    {"\x89HDF", kHdf5},
    {"MATLAB 5.0 MAT-file", document("a file of MATLAB")},
    {{"CDF\x01\0", 5}, document("a netCDF file")},
    {{"CDF\x02\0", 5}, document("a netCDF file")},
    {{"CDF\x05\0", 5}, document("a netCDF file")},
    {"PAR1", document("a Parquet file")},
    {"ORC", document("an ORC file"), 0, true},
    {"ARROW1", document("an Arrow file")},
    {"FEA1", document("a Feather file")},
    {"Obj\x01", document("an Avro file")},
    {"SQLite format 3", document("an SQLite database")},
    {"\xde\xc0\xef\xbe\x01", document("an LMDB database"), 16},
    {"%PDF-", document("a PDF document")},
    {"{\\rtf", document("an RTF document")},
    {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", document("a document of an office program")},
    {"\x1f\x8b\x08", packed("a gzip file")},
    {"\x28\xb5\x2f\xfd", packed("a Zstandard file")},
    {{"\xfd"
      "7zXZ\0",
      6},
     packed("an xz file")},
    {{"\x5d\0\0\x80\0\xff\xff\xff\xff", 9}, packed("an lzma file")},
    {"LZIP\x01", packed("an lzip file")},
    {{"\x89LZO\0\r\n", 7}, packed("an lzop file")},
    {"1AY&SY", packed("a bzip2 file"), 4},
    {"\x04\x22\x4d\x18", packed("an LZ4 file")},
    {"\x02\x21\x4c\x18", packed("an LZ4 file")},
    {{"\xff\x06\0\0sNaPpY", 10}, packed("a Snappy file")},
    {"7z\xbc\xaf\x27\x1c", packed("a 7z file")},
    {"Rar!\x1a\x07", packed("a RAR file")},
    {{"MSCF\0\0\0\0", 8}, packed("a cabinet file")},
    {"!<arch>\n", packed("an ar archive or Debian package")},
    {"\xed\xab\xee\xdb", packed("an RPM package")},
    {"ustar", packed("a tar file"), 257},
    {"\x7f"
     "ELF",
     noData("a program or library")},
    {"\xcf\xfa\xed\xfe", noData("a program or library")},
    {"\xca\xfe\xba\xbe", noData("a program or library")},
    {{"\0asm\x01", 5}, noData("a program or library")},
    {"\x89PNG\r\n", noData("a picture")},
    {"\xff\xd8\xff\xe0", noData("a picture")},
    {"\xff\xd8\xff\xe1", noData("a picture")},
    {"\xff\xd8\xff\xdb", noData("a picture")},
    {"GIF87a", noData("a picture")},
    {"GIF89a", noData("a picture")},
    {{"II*\0", 4}, noData("a picture")},
    {{"MM\0*", 4}, noData("a picture")},
    {"RIFF", noData("a recording or picture (RIFF)"), 0, true},
    {"ID3\x02", noData("a recording (MP3)")},
    {"ID3\x03", noData("a recording (MP3)")},
    {"ID3\x04", noData("a recording (MP3)")},
    {{"fLaC\0", 5}, noData("a recording (FLAC)")},
    {{"OggS\0", 5}, noData("a recording (Ogg)")},
    {"ftyp", noData("a recording or film (MP4)"), 4, true},
    {"\x1a\x45\xdf\xa3", noData("a film (Matroska)")},
    {"GGUF", kGguf},
    {{"MMIDIDX\0\0", 9}, kMegatronIndex},
    {{"TNTIDX\0\0", 8}, kMegatronIndex},
    {"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20", kPickle},
    {"TRNCPLAN", {"a plan", kPlanFirst, kPlanFirst, kNameText}},
    {kLfsPointer, {kLfsName, kLfsAdvice, kLfsAdvice, kLfsAdvice, false, kLfsAdvice}},
    {isCompress, packed("a file of compress")},
    {isZlib, packed("a zlib stream")},
    {isWindowsProgram, noData("a program or library")},
    {isFramedPickle, kPickle},
    {isOldPickle, kPickle},
    {isNamedPickle, kPickle},
    {isTextPickle, kPickle},
    {isTfRecord, document("a file of TFRecords")},
    {isSentencePiece, {"a model of SentencePiece", kNameData, kNameData, kNameText}},
    {isSafetensors, kSafetensors},
    {isArrowStream, document("an Arrow file")},
    {isBigEndianLlmc, kBigEndianLlmc},
    {isLlmc<20240522>, noData("llm.c's file of an evaluation, questions with several answers")},
    {isLlmc<20240328>, noData("llm.c's file of a tokenizer")},
    {isLlmc<20240326, 20240803>, noData("llm.c's file of a model's weights")},
    {isLlmc<20240327, 20240527>, noData("llm.c's file of a training state")},
    {isUnknownLlmc, noData("a file with a header like llm.c's that is none of tokens")},
};

} // namespace

bool hasLlmcTokenHeader(std::span<const std::byte> head) {
  if (head.size() < sizeof(uint32_t))
    return false;
  const uint32_t magic = wordAt({reinterpret_cast<const char *>(head.data()), head.size()}, 0);
  return magic == kLlmcTokens || magic == kLlmcTokensOfLlama3;
}

std::optional<ForeignKind> findBinaryKind(std::string_view extension, std::string_view bytes, bool isText) {
  const Head head{extension, bytes, isText};
  const auto *const found =
      std::ranges::find_if(kSignatures, [&](const Signature &signature) { return signature.fits(head); });
  return found == std::end(kSignatures) ? std::nullopt : std::optional(found->kind);
}

} // namespace trainc
