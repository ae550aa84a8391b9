#include "runtime/data/tokenize.h"

#include "base/input_file.h"
#include "base/plain_text.h"
#include "runtime/data/file_patterns.h"
#include "runtime/data/formats/foreign_file.h"
#include "runtime/data/formats/token_file.h"
#include "runtime/data/tokenizer/unicode.h"

#include <algorithm>

namespace trainc {

namespace {

constexpr size_t kPiece = size_t{4} << 20;

} // namespace

Result<TextPiece> TextPieces::next() {
  buffer_.erase(0, given_);
  utf8_ -= given_;
  given_ = 0;
  if (offset_ == 0)
    TRAINC_RETURN_IF_ERROR(skipMark());
  while (given_ == 0 && offset_ < text_.size()) {
    const size_t held = buffer_.size();
    // Doubles each time, so that a text without a cut is not searched again and again.
    const size_t more = std::min<uint64_t>(std::max(kPiece, held), text_.size() - offset_);
    buffer_.resize(held + more);
    TRAINC_RETURN_IF_ERROR(text_.read(offset_, std::as_writable_bytes(std::span(buffer_)).subspan(held)));
    offset_ += more;
    TRAINC_RETURN_IF_ERROR(checkUtf8());
    given_ = tokenizer_.lastCut(std::string_view(buffer_).substr(0, utf8_));
  }
  if (offset_ == text_.size())
    given_ = buffer_.size();
  const uint64_t begin = offset_ - buffer_.size();
  return TextPiece{std::string_view(buffer_).substr(0, given_), begin > first_, text_.path(), begin};
}

Status TextPieces::skipMark() {
  std::string head(std::min<uint64_t>(kByteOrderMark.size(), text_.size()), '\0');
  TRAINC_RETURN_IF_ERROR(text_.read(0, std::as_writable_bytes(std::span(head))));
  if (head == kByteOrderMark)
    offset_ = first_ = kByteOrderMark.size();
  return {};
}

Status TextPieces::checkUtf8() {
  utf8_ += utf8Prefix(std::string_view(buffer_).substr(utf8_));
  const std::string_view rest = std::string_view(buffer_).substr(utf8_);
  if (rest.empty() || (offset_ < text_.size() && rest.size() == unfinishedBytes(rest)))
    return {};
  constexpr size_t kShown = 1024; // bytes before and after
  const size_t begin = utf8_ - std::min(utf8_, kShown);
  return invalidInput("{}: byte {}: expected text in UTF-8, found the byte {:#04x}; {}", text_.path(),
                      offset_ - rest.size(), static_cast<unsigned char>(rest.front()),
                      describeNonUtf8(std::as_bytes(std::span(buffer_))
                                          .subspan(begin)
                                          .first(std::min(buffer_.size() - begin, 2 * kShown))));
}

namespace {

constexpr uint64_t kIdsOfUint16 = 65536;

/// All texts, checked to exist and not to be empty.
struct Texts {
  std::vector<std::filesystem::path> paths;
  uint64_t bytes = 0;
};

/// Fails if a file is no text, as far as its beginning tells.
Status checkKind(const InputFile &text, bool anyText) {
  std::vector<std::byte> head(std::min<uint64_t>(kForeignHeadBytes, text.size()));
  TRAINC_RETURN_IF_ERROR(text.read(0, head));
  const std::filesystem::path path = text.path();
  if (const std::optional<ForeignKind> found = findNonText(path.extension().string(), head, anyText))
    return invalidInput("{}: expected plain text in UTF-8, found {}; {}", text.path(), found->name,
                        found->forText);
  return {};
}

/// Whether a file has nothing but a byte order mark of UTF-8.
bool isOnlyMark(const InputFile &text) {
  std::string bytes(kByteOrderMark.size(), '\0');
  return text.size() == kByteOrderMark.size() &&
         text.read(0, std::as_writable_bytes(std::span(bytes))).ok() && bytes == kByteOrderMark;
}

Result<Texts> findTexts(const TokenizeOptions &options) {
  Texts texts;
  TRAINC_ASSIGN_OR_RETURN(texts.paths, expandPatterns(options.texts));
  for (const std::filesystem::path &path : texts.paths) {
    TRAINC_ASSIGN_OR_RETURN(const InputFile text, InputFile::open(path));
    if (text.size() == 0 || isOnlyMark(text))
      return invalidInput("{}: the text is empty", path.string());
    TRAINC_RETURN_IF_ERROR(checkKind(text, options.anyText));
    texts.bytes += text.size();
  }
  return texts;
}

/// The id that goes after each text; nothing if none was requested.
Result<std::optional<uint32_t>> findEndToken(const TokenizeOptions &options, const Tokenizer &tokenizer) {
  if (options.endToken.empty())
    return std::optional<uint32_t>();
  const auto id = tokenizer.findToken(options.endToken);
  if (!id)
    return invalidInput("the tokenizer '{}' has no token '{}' to put after each text", options.tokenizer,
                        options.endToken);
  return id;
}

/// Tokenizer name for the sidecar: an absolute path, valid from other working directories.
std::string lastingName(const std::string &tokenizer) {
  return tokenizer == "bytes" ? tokenizer : std::filesystem::absolute(tokenizer).lexically_normal().string();
}

/// Encodes texts one after the other.
class Encoder {
public:
  Encoder(const TokenizeOptions &options, Tokenizer &tokenizer, TokenWriter &writer, uint64_t total)
      : options_(options), tokenizer_(tokenizer), writer_(writer), total_(total) {}

  Status encode(const std::filesystem::path &path) {
    TRAINC_ASSIGN_OR_RETURN(InputFile text, InputFile::open(path));
    TextPieces pieces(std::move(text), tokenizer_);
    while (true) {
      TRAINC_ASSIGN_OR_RETURN(const TextPiece piece, pieces.next());
      if (piece.text.empty())
        return {};
      TRAINC_RETURN_IF_ERROR(encodePiece(piece));
      done_ += piece.text.size();
    }
  }

private:
  Status encodePiece(const TextPiece &piece) {
    return tokenizer_.encode(piece, [&](std::span<const uint32_t> ids, size_t bytesDone) -> Status {
      TRAINC_RETURN_IF_ERROR(writer_.write(ids));
      if (options_.progress && !options_.progress(done_ + bytesDone, total_))
        return failed("{}: not written: stopped after {} of {} bytes of text", options_.output,
                      done_ + bytesDone, total_);
      return {};
    });
  }

  const TokenizeOptions &options_;
  Tokenizer &tokenizer_;
  TokenWriter &writer_;
  uint64_t total_, done_ = 0; ///< bytes of all texts, and bytes encoded
};

} // namespace

Result<TokenizedTexts> tokenize(const TokenizeOptions &options) {
  TRAINC_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer, openTokenizer(options.tokenizer));
  TRAINC_ASSIGN_OR_RETURN(const std::optional<uint32_t> endToken, findEndToken(options, *tokenizer));
  TRAINC_ASSIGN_OR_RETURN(const Texts texts, findTexts(options));

  const auto dtype =
      tokenizer->vocabulary() <= kIdsOfUint16 ? SafetensorsDType::kU16 : SafetensorsDType::kU32;
  TRAINC_ASSIGN_OR_RETURN(TokenWriter writer, TokenWriter::open(options.output, dtype));
  Encoder encoder(options, *tokenizer, writer, texts.bytes);
  const auto &[before, after] = tokenizer->aroundText();
  for (const std::filesystem::path &path : texts.paths) {
    TRAINC_RETURN_IF_ERROR(writer.write(before));
    TRAINC_RETURN_IF_ERROR(encoder.encode(path));
    TRAINC_RETURN_IF_ERROR(writer.write(after));
    if (endToken && (after.empty() || after.back() != *endToken))
      TRAINC_RETURN_IF_ERROR(writer.write(std::span(&*endToken, 1)));
  }
  TRAINC_RETURN_IF_ERROR(writer.sync());
  // The sidecar is written first: if the disk has no space for it, no token file appears.
  TRAINC_RETURN_IF_ERROR(writeTokenSidecar(
      options.output, {{lastingName(options.tokenizer), tokenizer->fingerprint(), options.endToken},
                       tokenizer->vocabulary(),
                       dtype,
                       writer.count(),
                       writer.checksum()}));
  TRAINC_RETURN_IF_ERROR(writer.publish());
  return TokenizedTexts{.files = texts.paths.size(),
                        .bytes = texts.bytes,
                        .tokens = writer.count(),
                        .dtype = dtype,
                        .vocabulary = tokenizer->vocabulary()};
}

Result<std::unique_ptr<Tokenizer>> openRecordedTokenizer(const TokenizerRecord &record,
                                                         const std::string &where) {
  Result<std::unique_ptr<Tokenizer>> tokenizer = openTokenizer(record.name);
  if (!tokenizer.ok())
    return invalidInput("{} names the tokenizer '{}', which cannot be opened; give --tokenizer: {}", where,
                        printable(record.name), tokenizer.status().message());
  if ((*tokenizer)->fingerprint() != record.xxh3)
    return invalidInput(
        "{}: the tokenizer '{}' has changed since (XXH3 {:016x}, then {:016x}); tokenize again, or "
        "give --tokenizer",
        where, printable(record.name), (*tokenizer)->fingerprint(), record.xxh3);
  return tokenizer;
}

} // namespace trainc
