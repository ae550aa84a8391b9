#include "runtime/data/tokenize.h"

#include "runtime/base/mapped_file.h"
#include "runtime/data/file_patterns.h"
#include "runtime/data/token_writer.h"

namespace trainc {

namespace {

constexpr uint64_t kIdsOfUint16 = 65536;

Result<std::vector<MappedFile>> openTexts(const std::vector<std::string> &patterns) {
  TRAINC_ASSIGN_OR_RETURN(const std::vector<std::filesystem::path> paths, expandPatterns(patterns));
  std::vector<MappedFile> texts;
  for (const std::filesystem::path &path : paths) {
    TRAINC_ASSIGN_OR_RETURN(MappedFile text, MappedFile::open(path));
    if (text.bytes().empty())
      return invalidInput("{}: the text is empty", path.string());
    texts.push_back(std::move(text));
  }
  return texts;
}

/// The id that goes after each text; nothing where none was asked for.
Result<std::optional<uint32_t>> findEndToken(const TokenizeOptions &options, const Tokenizer &tokenizer) {
  if (options.endToken.empty())
    return std::optional<uint32_t>();
  const auto id = tokenizer.findToken(options.endToken);
  if (!id)
    return invalidInput("the tokenizer '{}' has no token '{}' to put after each text", options.tokenizer,
                        options.endToken);
  return id;
}

/// What the sidecar calls the tokenizer: still found from another working directory.
std::string lastingName(const std::string &tokenizer) {
  return tokenizer == "bytes" ? tokenizer : std::filesystem::absolute(tokenizer).lexically_normal().string();
}

} // namespace

Status tokenize(const TokenizeOptions &options) {
  TRAINC_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer, openTokenizer(options.tokenizer));
  TRAINC_ASSIGN_OR_RETURN(const std::optional<uint32_t> endToken, findEndToken(options, *tokenizer));
  TRAINC_ASSIGN_OR_RETURN(const std::vector<MappedFile> texts, openTexts(options.texts));
  uint64_t total = 0;
  for (const MappedFile &text : texts)
    total += text.bytes().size();

  const auto dtype =
      tokenizer->vocabulary() <= kIdsOfUint16 ? SafetensorsDType::kU16 : SafetensorsDType::kU32;
  TRAINC_ASSIGN_OR_RETURN(TokenWriter writer, TokenWriter::open(options.output, dtype));
  uint64_t done = 0;
  for (const MappedFile &text : texts) {
    const std::string_view view(reinterpret_cast<const char *>(text.bytes().data()), text.bytes().size());
    Status status;
    tokenizer->encode(view, [&](std::span<const uint32_t> ids, size_t bytesDone) {
      status = writer.write(ids);
      if (status.ok() && options.progress)
        options.progress(done + bytesDone, total);
      return status.ok();
    });
    TRAINC_RETURN_IF_ERROR(status);
    if (endToken)
      TRAINC_RETURN_IF_ERROR(writer.write(std::span(&*endToken, 1)));
    done += view.size();
  }
  TRAINC_RETURN_IF_ERROR(writer.sync());
  // The sidecar first: where there is no room for it, no token file appears.
  TRAINC_RETURN_IF_ERROR(
      writeTokenSidecar(options.output, {{lastingName(options.tokenizer), tokenizer->fingerprint()},
                                         tokenizer->vocabulary(),
                                         dtype,
                                         writer.count()}));
  return writer.publish();
}

Result<std::unique_ptr<Tokenizer>> openRecordedTokenizer(const TokenizerRecord &record,
                                                         const std::string &where) {
  Result<std::unique_ptr<Tokenizer>> tokenizer = openTokenizer(record.name);
  if (!tokenizer.ok())
    return invalidInput("{} names the tokenizer '{}', which cannot be opened; give --tokenizer: {}", where,
                        record.name, tokenizer.status().message());
  if ((*tokenizer)->fingerprint() != record.xxh3)
    return invalidInput(
        "{}: the tokenizer '{}' has changed since (XXH3 {:016x}, then {:016x}); tokenize again, or "
        "give --tokenizer",
        where, record.name, (*tokenizer)->fingerprint(), record.xxh3);
  return tokenizer;
}

} // namespace trainc
