#include "runtime/data/tokenize.h"

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
    tokenizer->encode(view, [&](std::span<const uint32_t> ids, size_t bytesDone) {
      writer.write(ids);
      if (options.progress)
        options.progress(done + bytesDone, total);
    });
    if (endToken)
      writer.write(std::span(&*endToken, 1));
    done += view.size();
  }
  TRAINC_RETURN_IF_ERROR(writer.finish());
  return writeTokenSidecar(options.output, {lastingName(options.tokenizer), tokenizer->vocabulary(), dtype,
                                            writer.count(), tokenizer->fingerprint()});
}

Result<std::unique_ptr<Tokenizer>> openTokenizerOf(const std::filesystem::path &tokenFile) {
  TRAINC_ASSIGN_OR_RETURN(const std::optional<TokenSidecar> sidecar, readTokenSidecar(tokenFile));
  if (!sidecar)
    return invalidInput("{}: no {} beside it says which tokenizer made it; give --tokenizer",
                        tokenFile.string(), sidecarPath(tokenFile).filename().string());
  TRAINC_ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer, openTokenizer(sidecar->tokenizer));
  if (tokenizer->fingerprint() != sidecar->tokenizerXxh3)
    return invalidInput(
        "{}: the tokenizer '{}' has changed since it made {} (XXH3 {:016x}, then {:016x}); tokenize "
        "again, or give --tokenizer",
        sidecarPath(tokenFile).string(), sidecar->tokenizer, tokenFile.string(), tokenizer->fingerprint(),
        sidecar->tokenizerXxh3);
  return tokenizer;
}

} // namespace trainc
