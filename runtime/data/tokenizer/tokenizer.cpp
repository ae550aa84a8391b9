#include "runtime/data/tokenizer/tokenizer.h"

#include "base/hash.h"
#include "base/input_file.h"
#include "runtime/data/tokenizer/bpe_tokenizer.h"
#include "runtime/data/tokenizer/bytes_tokenizer.h"
#include "runtime/data/tokenizer/tokenizer_json.h"
#include "runtime/data/tokenizer/vocab_merges.h"

namespace trainc {

namespace {

namespace fs = std::filesystem;

uint64_t hashOf(const std::string &text) { return xxh3(std::as_bytes(std::span(text))); }

Result<std::unique_ptr<Tokenizer>> openTokenizerJson(const fs::path &path) {
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(path));
  TRAINC_ASSIGN_OR_RETURN(BpeDefinition definition, readTokenizerJson(path.string(), text));
  return BpeTokenizer::create(std::move(definition), hashOf(text));
}

Result<std::unique_ptr<Tokenizer>> openVocabMerges(const fs::path &folder) {
  const fs::path vocabPath = folder / "vocab.json";
  const fs::path mergesPath = folder / "merges.txt";
  TRAINC_ASSIGN_OR_RETURN(const std::string vocab, readWholeFile(vocabPath));
  TRAINC_ASSIGN_OR_RETURN(const std::string merges, readWholeFile(mergesPath));
  TRAINC_ASSIGN_OR_RETURN(BpeDefinition definition,
                          readVocabMerges(vocabPath.string(), vocab, mergesPath.string(), merges));
  const std::array<uint64_t, 2> hashes = {hashOf(vocab), hashOf(merges)};
  return BpeTokenizer::create(std::move(definition), xxh3(std::as_bytes(std::span(hashes))));
}

} // namespace

Result<std::vector<uint32_t>> Tokenizer::encode(std::string_view text, std::string_view name) {
  std::vector<uint32_t> all;
  TRAINC_RETURN_IF_ERROR(
      encode(TextPiece{.text = text, .name = name}, [&](std::span<const uint32_t> ids, size_t) {
        all.insert(all.end(), ids.begin(), ids.end());
        return Status();
      }));
  return all;
}

std::string Tokenizer::decode(std::span<const uint32_t> ids) const {
  const std::unique_ptr<TokenDecoder> tokens = decoder();
  std::string text;
  for (const uint32_t id : ids)
    text += tokens->next(id);
  return text;
}

Result<std::unique_ptr<Tokenizer>> openTokenizer(const std::string &name) {
  if (name == "bytes")
    return std::unique_ptr<Tokenizer>(std::make_unique<BytesTokenizer>());
  const fs::path path(name);
  std::error_code error;
  if (fs::is_directory(path, error)) {
    if (fs::exists(path / "tokenizer.json", error))
      return openTokenizerJson(path / "tokenizer.json");
    if (fs::exists(path / "vocab.json", error))
      return openVocabMerges(path);
    return invalidInput("{}: expected a tokenizer.json, or a vocab.json and a merges.txt, in this folder",
                        name);
  }
  if (path.filename() == "vocab.json" || path.filename() == "merges.txt")
    return openVocabMerges(path.parent_path());
  if (path.extension() == ".json")
    return openTokenizerJson(path);
  if (!fs::exists(path, error))
    return invalidInput("--tokenizer={}: no such file or folder; expected 'bytes', a tokenizer.json, a "
                        "vocab.json or merges.txt, or their folder",
                        name);
  return invalidInput(
      "--tokenizer={}: expected 'bytes', a tokenizer.json, a vocab.json or merges.txt, or their folder",
      name);
}

} // namespace trainc
