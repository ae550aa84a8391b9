#include "runtime/data/formats/foreign_file.h"

#include "base/input_file.h"
#include "base/json_text.h"
#include "base/plain_text.h"
#include "runtime/data/formats/binary_kind.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace trainc {

namespace {

/// Minimum bytes of a text: fewer may look like text by chance.
constexpr size_t kMinTextBytes = 32;
/// Minimum bytes of a text in another encoding than UTF-8, of which no byte is certain.
constexpr size_t kMinOtherTextBytes = 64;
/// Minimum bytes of a text in an encoding that is not looked at. A ninth of all bytes are control characters.
constexpr size_t kMinOldTextBytes = 256;
/// Maximum bytes of a character, of which the last one of a head may be cut.
constexpr size_t kMaxCharacterBytes = 4;
/// Minimum lines that are alike in a file whose name says nothing.
constexpr size_t kMinLinesOfJson = 2, kMinLinesOfValues = 8, kMinLinesOfTable = 8;

constexpr std::string_view kExtractJson = "write the text alone to a file (as jq -r .text DATA.jsonl > "
                                          "data.txt does), or add --any-text to tokenize the "
                                          "lines as they are";
constexpr std::string_view kExtractTexts =
    "write the texts alone to a file (as jq -r '.[].text' DATA.json > data.txt does), or add --any-text to "
    "tokenize the file as it is";
constexpr std::string_view kExtractTable =
    "write the column with the text alone to a file, or add --any-text to tokenize the lines as they are";
constexpr std::string_view kTokenize =
    "make tokens of it: trainc tokenize --tokenizer=bytes TEXT -o tokens.bin";

constexpr ForeignKind kLlmcTokenFile = {"a file of tokens as llm.c writes it", "", "",
                                        "train on it as it is: trainrun PLAN --data FILE"};

constexpr ForeignKind kCsv = {"text (CSV)", kExtractText, kFromNumpy, kExtractTable, true};
constexpr ForeignKind kTsv = {"text (TSV)", kExtractText, kFromNumpy, kExtractTable, true};
constexpr ForeignKind kJsonLines = {"text (lines of JSON)", kExtractText, kFromNumpy, kExtractJson, true};
constexpr ForeignKind kJson = {"text (JSON)", kExtractText, kFromNumpy, kExtractTexts, true};
constexpr ForeignKind kMarkup = {
    "text (HTML or XML)", kExtractText, kFromNumpy,
    "write the text alone to a file, or add --any-text to tokenize the file as it is", true};
constexpr ForeignKind kText = {"text", kTokenize, kFromNumpy, "", true};
constexpr ForeignKind kUtf16Text = {
    "text in UTF-16",
    "save it as UTF-8, and make tokens of that: trainc tokenize --tokenizer=bytes TEXT -o tokens.bin",
    kFromNumpy, "save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE > text.txt", true};
constexpr ForeignKind kUtf32Text = {"text in UTF-32", kUtf16Text.forTokens, kFromNumpy,
                                    "save it as UTF-8: iconv -f UTF-32 -t UTF-8 FILE > text.txt", true};
constexpr ForeignKind kOldText = {
    "text in an encoding other than UTF-8 (no byte is a control character)",
    "save it as UTF-8 (iconv -f ENCODING -t UTF-8 FILE > text.txt, with its encoding, such as WINDOWS-1252 "
    "or "
    "SHIFT-JIS), and make tokens of that: trainc tokenize --tokenizer=bytes TEXT -o tokens.bin",
    kFromNumpy,
    "save it as UTF-8: iconv -f ENCODING -t UTF-8 FILE > text.txt, with its encoding, such as WINDOWS-1252 "
    "or "
    "SHIFT-JIS",
    true};
constexpr ForeignKind kZeros = {
    "a binary file, such as tokens, or text in UTF-16 without a byte-order mark (many of its bytes are 0)",
    kNameData, kNameData, "train on tokens as they are (trainrun PLAN --data FILE), and save text as UTF-8"};

/// Extensions of texts.
constexpr std::array<std::string_view, 8> kTextExtensions = {".txt", ".text", ".md",    ".csv",
                                                             ".tsv", ".json", ".jsonl", ".ndjson"};

/// Whether a control character is white space, which texts have.
bool isBlankControl(char byte) { return std::string_view("\n\r\t\f").find(byte) != std::string_view::npos; }

/// Whether bytes, at least `minBytes`, are UTF-8 without control characters other than white space.
bool isText(std::string_view bytes, size_t minBytes = kMinTextBytes) {
  if (bytes.size() < minBytes)
    return false;
  for (size_t at = 0; at < bytes.size();) {
    const bool maybeCut = bytes.size() - at < kMaxCharacterBytes;
    const char first = bytes[at];
    const std::optional<uint32_t> character = nextCharacter(bytes, at);
    if (!character)
      return maybeCut;
    if (isControl(*character) && !isBlankControl(first))
      return false;
  }
  return true;
}

/// Whether a byte is a printable ASCII character or white space.
bool isAsciiText(char byte) { return (byte >= ' ' && byte <= '~') || isBlankControl(byte); }

/// Whether nearly all bytes are ASCII text: Latin-1 and its kin, or UTF-8 with a few wrong bytes. In tokens
/// of 16 bits, every second byte is small.
bool isMostlyAscii(std::string_view bytes) {
  return static_cast<size_t>(std::ranges::count_if(bytes, isAsciiText)) >= bytes.size() - bytes.size() / 8;
}

bool isNearlyText(std::string_view bytes) {
  return bytes.size() >= kMinOtherTextBytes && isMostlyAscii(bytes);
}

/// Whether bytes have lines and no control characters, as texts in Shift-JIS, GBK, KOI8 or EUC do. Frequent
/// tokens are small, so that one of their bytes is a control character.
bool isOldText(std::string_view bytes) {
  return bytes.size() >= kMinOldTextBytes && bytes.find('\n') != std::string_view::npos &&
         std::ranges::none_of(bytes, [](char byte) {
           return (static_cast<uint8_t>(byte) < ' ' && !isBlankControl(byte)) || byte == '\x7f';
         });
}

/// Whether bytes are the same token of 16 or 32 bits again and again, whose bytes may be printable by chance.
bool isOneToken(std::string_view bytes) {
  return bytes.size() > sizeof(uint32_t) &&
         bytes.substr(sizeof(uint32_t)) == bytes.substr(0, bytes.size() - sizeof(uint32_t));
}

bool hasUtf16Mark(std::string_view bytes) {
  return bytes.starts_with("\xfe\xff") || bytes.starts_with("\xff\xfe");
}

/// Whether bytes are UTF-16 of mostly ASCII text. Without a byte-order mark they are also tokens of bytes, so
/// that only the file's name tells.
bool isUtf16(std::string_view bytes, bool isNamedText) {
  if (bytes.size() < kMinOtherTextBytes || !(isNamedText || hasUtf16Mark(bytes)))
    return false;
  const bool bigEndian = bytes.starts_with("\xfe\xff") || bytes.starts_with('\0');
  size_t characters = 0;
  for (size_t at = hasUtf16Mark(bytes) ? 2 : 0; at + 1 < bytes.size(); at += 2)
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

/// Whether each line is a JSON object, array or string. A few lines in quotes or brackets may be prose.
bool isLinesOfJson(std::string_view bytes) {
  size_t objects = 0, others = 0;
  for (const std::string_view line : linesOf(bytes, /*withLast=*/true)) {
    const char first = line.front();
    const nlohmann::json value = first == '{' || first == '[' || first == '"' ? tryParseJson(line) : nullptr;
    const bool isCut = line.end() == bytes.end() && objects + others > 0 && value.is_discarded();
    if (!value.is_structured() && !value.is_string() && !isCut)
      return false;
    ++(first == '{' ? objects : others);
  }
  return objects >= kMinLinesOfJson || objects + others >= kMinLinesOfValues;
}

/// Whether bytes begin as a JSON object, or as an array of objects or strings.
bool isJson(std::string_view bytes) {
  const auto skip = [&bytes](char expected) {
    bytes.remove_prefix(std::min(bytes.find_first_not_of(" \n\r\t"), bytes.size()));
    const bool found = bytes.starts_with(expected);
    bytes.remove_prefix(found ? 1 : 0);
    return found;
  };
  return (skip('[') && skip('"')) || (skip('{') && skip('"'));
}

/// Number of fields of a row of a table; none if the line is not a row: a delimiter is at its start, or a
/// space follows one, as in prose and code.
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

/// Whether the first line has nothing but names of columns, such as "review,sentiment".
bool beginsWithNames(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, bytes.find_first_of("\r\n"));
  constexpr size_t kMaxBytes = 80;
  return line.size() <= kMaxBytes && std::ranges::all_of(line, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                  c == ',';
         });
}

std::string inLowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; });
  return lower;
}

/// Whether bytes begin as a web page, which a failed download leaves, or as XML.
bool isMarkup(std::string_view bytes) {
  bytes.remove_prefix(std::min(bytes.find_first_not_of(" \n\r\t"), bytes.size()));
  constexpr std::string_view kBegins[] = {"<!doctype html", "<html", "<?xml "};
  return std::ranges::any_of(kBegins, [bytes](std::string_view begin) {
    return inLowerCase(bytes.substr(0, begin.size())) == begin;
  });
}

/// The kind of a text, by its name and its lines.
ForeignKind textKind(std::string_view extension, std::string_view bytes) {
  if (bytes.starts_with(kByteOrderMark))
    bytes.remove_prefix(kByteOrderMark.size());
  if (extension == ".csv")
    return kCsv;
  if (extension == ".tsv")
    return kTsv;
  if (extension == ".jsonl" || extension == ".ndjson" || isLinesOfJson(bytes))
    return kJsonLines;
  if (extension == ".json" || isJson(bytes))
    return kJson;
  if (isMarkup(bytes))
    return kMarkup;
  if (isTable(bytes, ',', beginsWithNames(bytes) ? 2 : 3) || isTable(bytes, ';', 3))
    return kCsv;
  return isTable(bytes, '\t', 2) ? kTsv : kText;
}

std::string_view textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

} // namespace

std::optional<ForeignKind> findForeignKind(std::string_view nameEnd, std::span<const std::byte> head) {
  const std::string extension = inLowerCase(nameEnd);
  const std::string_view bytes = textOf(head);
  // A few bytes of tokens may be a text by chance, but not in a file that is named as one.
  const bool isNamedText = std::ranges::find(kTextExtensions, extension) != kTextExtensions.end();
  const bool isWholeText = isText(bytes, isNamedText ? 1 : kMinTextBytes);
  if (const std::optional<ForeignKind> kind = findBinaryKind(extension, bytes, isWholeText))
    return kind;
  if (isUtf32(bytes))
    return kUtf32Text;
  if (isUtf16(bytes, isNamedText))
    return kUtf16Text;
  if (isOneToken(bytes))
    return std::nullopt;
  if (!isWholeText && !isNearlyText(bytes))
    return isOldText(bytes) ? std::optional(kOldText) : std::nullopt;
  return textKind(extension, bytes);
}

std::optional<ForeignKind> findForeignKind(const std::filesystem::path &path) {
  const Result<InputFile> file = InputFile::open(path);
  if (!file.ok())
    return std::nullopt;
  std::vector<std::byte> head(std::min<uint64_t>(kForeignHeadBytes, file->size()));
  if (!file->read(0, head).ok())
    return std::nullopt;
  // A safetensors file: 8 bytes of header length, then '{'.
  const std::string_view bytes = textOf(head);
  if (bytes.size() > 8 && bytes.substr(4, 4) == std::string_view("\0\0\0\0", 4) && bytes[8] == '{')
    return std::nullopt;
  return findForeignKind(path.extension().string(), head);
}

Status explainUnreadWeights(const std::filesystem::path &path, const Status &status) {
  // The index of a model's files is JSON, too.
  const std::optional<ForeignKind> kind = path.extension() == ".json" ? std::nullopt : findForeignKind(path);
  return kind && !kind->forWeights.empty() ? invalidInput("{}: expected a safetensors file, found {}; {}",
                                                          path.string(), kind->name, kind->forWeights)
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
    return "it looks like text in Latin-1, Windows-1252 or another old encoding: save it as UTF-8 (as "
           "iconv -f WINDOWS-1252 -t UTF-8 FILE > text.txt does)";
  return "it looks like a binary file, or text in another encoding: save text as UTF-8; bytes that are "
         "to be tokens need no tokenizer (trainrun PLAN --data FILE --data-dtype=uint8)";
}

} // namespace trainc
