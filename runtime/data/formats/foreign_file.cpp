#include "runtime/data/formats/foreign_file.h"

#include "base/input_file.h"
#include "base/json_text.h"
#include "base/plain_text.h"
#include "runtime/data/formats/binary_kind.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace trainc {

namespace {

/// Minimum bytes of a text: fewer may look like text by chance.
constexpr size_t kMinTextBytes = 32;
/// Minimum bytes of a text in another encoding than UTF-8, of which no byte is certain.
constexpr size_t kMinOtherTextBytes = 64;
/// Maximum bytes of a character, of which the last one of a head may be cut.
constexpr size_t kMaxCharacterBytes = 4;
/// Minimum lines that are alike in a file whose name says nothing.
constexpr size_t kMinLinesOfJson = 2, kMinLinesOfTable = 8;

constexpr std::string_view kExtractJson = "write the text alone to a file (as jq -r .text DATA.jsonl > "
                                          "data.txt does), or add --any-text to tokenize the "
                                          "lines as they are";
constexpr std::string_view kExtractTable =
    "write the column with the text alone to a file, or add --any-text to tokenize the lines as they are";
constexpr std::string_view kTokenize =
    "make tokens of it: trainc tokenize --tokenizer=bytes TEXT -o tokens.bin";

constexpr ForeignKind kLlmcTokenFile = {"a file of tokens as llm.c writes it", "", "",
                                        "train on it as it is: trainrun PLAN --data FILE"};

constexpr ForeignKind kCsv = {"text (CSV)", kExtractText, kFromNumpy, kExtractTable, true};
constexpr ForeignKind kTsv = {"text (TSV)", kExtractText, kFromNumpy, kExtractTable, true};
constexpr ForeignKind kJsonLines = {"text (lines of JSON)", kExtractText, kFromNumpy, kExtractJson, true};
constexpr ForeignKind kJson = {"text (JSON)", kExtractText, kFromNumpy, "", true};
constexpr ForeignKind kText = {"text", kTokenize, kFromNumpy, "", true};
constexpr ForeignKind kUtf16Text = {
    "text in UTF-16",
    "save it as UTF-8, and make tokens of that: trainc tokenize --tokenizer=bytes TEXT -o tokens.bin",
    kFromNumpy, "save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE > text.txt", true};
constexpr ForeignKind kUtf32Text = {"text in UTF-32", kUtf16Text.forTokens, kFromNumpy,
                                    "save it as UTF-8: iconv -f UTF-32 -t UTF-8 FILE > text.txt", true};
constexpr ForeignKind kZeros = {
    "a binary file, such as tokens, or text in UTF-16 without a byte-order mark (many of its bytes are 0)",
    kNameData, kNameData, "train on tokens as they are (trainrun PLAN --data FILE), and save text as UTF-8"};

/// Whether bytes are UTF-8 without control characters other than white space.
bool isText(std::string_view bytes) {
  if (bytes.size() < kMinTextBytes)
    return false;
  for (size_t at = 0; at < bytes.size();) {
    const bool maybeCut = bytes.size() - at < kMaxCharacterBytes;
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

/// Whether nearly all bytes are ASCII text: Latin-1 and its kin, or UTF-8 with a few wrong bytes. In tokens
/// of 16 bits, every second byte is small.
bool isMostlyAscii(std::string_view bytes) {
  return static_cast<size_t>(std::ranges::count_if(bytes, isAsciiText)) >= bytes.size() - bytes.size() / 8;
}

bool isNearlyText(std::string_view bytes) {
  return bytes.size() >= kMinOtherTextBytes && isMostlyAscii(bytes);
}

/// Whether bytes are the same token of 16 or 32 bits again and again, whose bytes may be printable by chance.
bool isOneToken(std::string_view bytes) {
  return bytes.size() > sizeof(uint32_t) &&
         bytes.substr(sizeof(uint32_t)) == bytes.substr(0, bytes.size() - sizeof(uint32_t));
}

bool hasUtf16Mark(std::string_view bytes) {
  return bytes.starts_with("\xfe\xff") || bytes.starts_with("\xff\xfe");
}

/// Whether bytes are UTF-16 of mostly ASCII text after a byte-order mark.
bool isUtf16(std::string_view bytes) {
  const bool bigEndian = bytes.starts_with("\xfe\xff");
  if (bytes.size() < kMinOtherTextBytes || !hasUtf16Mark(bytes))
    return false;
  size_t characters = 0;
  for (size_t at = 2; at + 1 < bytes.size(); at += 2)
    characters += bytes[at + !bigEndian] == '\0' && isAsciiText(bytes[at + bigEndian]);
  return characters >= bytes.size() / 2 - bytes.size() / 16;
}

bool hasUtf32Mark(std::string_view bytes) {
  return bytes.starts_with(std::string_view("\xff\xfe\0\0", 4)) ||
         bytes.starts_with(std::string_view("\0\0\xfe\xff", 4));
}

/// Whether bytes are UTF-32 without control characters other than white space, after a byte-order mark.
bool isUtf32(std::string_view bytes) {
  if (bytes.size() < kMinOtherTextBytes || !hasUtf32Mark(bytes))
    return false;
  const bool bigEndian = bytes.front() == '\0';
  for (size_t i = 1; i < bytes.size() / sizeof(uint32_t); ++i) {
    const uint32_t character = bigEndian ? swappedBytes(wordAt(bytes, i)) : wordAt(bytes, i);
    const bool isSpace = character < 0x80 && isAsciiText(static_cast<char>(character));
    if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000) ||
        (isControl(character) && !isSpace))
      return false;
  }
  return true;
}

/// The lines of `bytes` that are not empty. The last one may be cut unless a newline ends it.
std::vector<std::string_view> linesOf(std::string_view bytes, bool withLast) {
  std::vector<std::string_view> lines;
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    if (end == std::string_view::npos && !withLast)
      break;
    std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (!line.empty())
      lines.push_back(line);
  }
  return lines;
}

/// Whether each line is a JSON object; one line is enough if the name says so.
bool isLinesOfJson(std::string_view bytes, bool isNamed) {
  size_t objects = 0;
  for (const std::string_view line : linesOf(bytes, /*withLast=*/true)) {
    const bool isObject = line.front() == '{' && tryParseJson(line).is_object();
    const bool isCut = line.end() == bytes.end();
    if (!isObject && !(isCut && line.front() == '{' && (isNamed || objects > 0)))
      return false;
    ++objects;
  }
  return objects >= (isNamed ? 1 : kMinLinesOfJson);
}

/// Fields of a line of a table; nothing if the line is no such line for sure: a delimiter is at its start, or
/// a space follows one, as in prose and code.
std::optional<size_t> countFields(std::string_view line, char delimiter) {
  bool isQuoted = false;
  size_t fields = 1;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '"')
      isQuoted = !isQuoted;
    if (isQuoted || line[at] != delimiter)
      continue;
    if (at == 0 || (at + 1 < line.size() && line[at + 1] == ' '))
      return std::nullopt;
    ++fields;
  }
  return isQuoted ? std::nullopt : std::optional(fields);
}

/// Whether many lines have the same number of fields.
bool isTable(std::string_view bytes, char delimiter, size_t minFields) {
  const std::vector<std::string_view> lines = linesOf(bytes, /*withLast=*/false);
  if (lines.size() < kMinLinesOfTable)
    return false;
  const std::optional<size_t> fields = countFields(lines.front(), delimiter);
  return fields && *fields >= minFields && std::ranges::all_of(lines, [&](std::string_view line) {
           return countFields(line, delimiter) == fields;
         });
}

/// The kind of a text, by its name and its lines.
ForeignKind textKind(std::string_view extension, std::string_view bytes) {
  if (constexpr std::string_view kMark = "\xef\xbb\xbf"; bytes.starts_with(kMark))
    bytes.remove_prefix(kMark.size());
  if (extension == ".csv")
    return kCsv;
  if (extension == ".tsv")
    return kTsv;
  if (isLinesOfJson(bytes, extension == ".jsonl" || extension == ".ndjson"))
    return kJsonLines;
  if (extension == ".json")
    return kJson;
  if (isTable(bytes, ',', 3) || isTable(bytes, ';', 3))
    return kCsv;
  return isTable(bytes, '\t', 2) ? kTsv : kText;
}

std::string inLowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; });
  return lower;
}

std::string_view textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

} // namespace

std::optional<ForeignKind> findForeignKind(std::string_view nameEnd, std::span<const std::byte> head) {
  const std::string extension = inLowerCase(nameEnd);
  const std::string_view bytes = textOf(head);
  if (const std::optional<ForeignKind> kind = findBinaryKind(extension, bytes, isText(bytes)))
    return kind;
  if (isUtf32(bytes))
    return kUtf32Text;
  if (isUtf16(bytes))
    return kUtf16Text;
  if (isOneToken(bytes) || (!isText(bytes) && !isNearlyText(bytes)))
    return std::nullopt;
  return textKind(extension, bytes);
}

std::optional<ForeignKind> findForeignKind(const std::filesystem::path &path) {
  const Result<InputFile> file = InputFile::open(path);
  if (!file.ok())
    return std::nullopt;
  std::vector<std::byte> head(std::min<uint64_t>(kForeignHeadBytes, file->size()));
  if (!file->read(0, head).ok())
    return std::nullopt;
  // The length of a header, and its first character.
  const std::string_view bytes = textOf(head);
  if (bytes.size() > 8 && bytes.substr(4, 4) == std::string_view("\0\0\0\0", 4) && bytes[8] == '{')
    return std::nullopt;
  return findForeignKind(path.extension().string(), head);
}

Status explainUnreadWeights(const std::filesystem::path &path, const Status &status) {
  // The index of a model's files is JSON, too.
  const std::optional<ForeignKind> kind = path.extension() == ".json" ? std::nullopt : findForeignKind(path);
  return kind ? invalidInput("{}: expected a safetensors file, found {}; {}", path.string(), kind->name,
                             kind->forWeights)
              : status;
}

std::optional<ForeignKind> findNonText(std::string_view nameEnd, std::span<const std::byte> head,
                                       bool anyText) {
  const std::string extension = inLowerCase(nameEnd);
  const std::string_view bytes = textOf(head);
  if (const std::optional<ForeignKind> kind = findBinaryKind(extension, bytes, isText(bytes)))
    return kind;
  if (hasLlmcTokenHeader(head))
    return kLlmcTokenFile;
  if (hasUtf32Mark(bytes))
    return kUtf32Text;
  if (hasUtf16Mark(bytes))
    return kUtf16Text;
  if (static_cast<size_t>(std::ranges::count(bytes, '\0')) > bytes.size() / 16)
    return kZeros;
  const ForeignKind kind = textKind(extension, bytes);
  return anyText || kind.forText.empty() ? std::nullopt : std::optional(kind);
}

std::string describeNonUtf8(std::span<const std::byte> bytes) {
  if (isMostlyAscii(textOf(bytes)))
    return "it looks like text in Latin-1, Windows-1252 or another old encoding: save it as UTF-8 (as iconv "
           "-f "
           "WINDOWS-1252 -t UTF-8 FILE > text.txt does)";
  return "it looks like a binary file, or text in another encoding: save text as UTF-8; bytes that are to be "
         "tokens "
         "need no tokenizer (trainrun PLAN --data FILE --data-dtype=uint8)";
}

} // namespace trainc
