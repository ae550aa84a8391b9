#include "runtime/data/tokenizer/tokenizer.h"

#include "base/hash.h"
#include "base/input_file.h"
#include "runtime/data/tokenizer/bytes_tokenizer.h"
#include "runtime/data/tokenizer/gguf_tokenizer.h"
#include "runtime/data/tokenizer/pipeline_tokenizer.h"
#include "runtime/data/tokenizer/tokenizer_json.h"
#include "runtime/data/tokenizer/vocab_merges.h"
#include "runtime/data/tokenizer/vocab_text.h"

namespace trainc {

namespace {

namespace fs = std::filesystem;

uint64_t hashOf(const std::string &text) { return xxh3(std::as_bytes(std::span(text))); }

Result<std::unique_ptr<Tokenizer>> openTokenizerJson(const fs::path &path) {
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(path));
  TRAINC_ASSIGN_OR_RETURN(TokenizerDefinition definition, readTokenizerJson(path.string(), text));
  return PipelineTokenizer::create(std::move(definition), hashOf(text));
}

Result<std::unique_ptr<Tokenizer>> openGgufTokenizer(const fs::path &path) {
  TRAINC_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::open(path));
  TRAINC_ASSIGN_OR_RETURN(const std::string text, tokenizerJsonOf(file));
  TRAINC_RETURN_IF_ERROR(file.check());
  TRAINC_ASSIGN_OR_RETURN(TokenizerDefinition definition, readTokenizerJson(path.string(), text));
  return PipelineTokenizer::create(std::move(definition), hashOf(text));
}

Result<std::unique_ptr<Tokenizer>> openVocabMerges(const fs::path &folder) {
  const fs::path vocabPath = folder / "vocab.json";
  const fs::path mergesPath = folder / "merges.txt";
  TRAINC_ASSIGN_OR_RETURN(const std::string vocab, readWholeFile(vocabPath));
  TRAINC_ASSIGN_OR_RETURN(const std::string merges, readWholeFile(mergesPath));
  TRAINC_ASSIGN_OR_RETURN(TokenizerDefinition definition,
                          readVocabMerges(vocabPath.string(), vocab, mergesPath.string(), merges));
  const std::array<uint64_t, 2> hashes = {hashOf(vocab), hashOf(merges)};
  return PipelineTokenizer::create(std::move(definition), xxh3(std::as_bytes(std::span(hashes))));
}

Result<std::unique_ptr<Tokenizer>> openVocabText(const fs::path &vocabPath) {
  const fs::path configPath = vocabPath.parent_path() / "tokenizer_config.json";
  TRAINC_ASSIGN_OR_RETURN(const std::string vocab, readWholeFile(vocabPath));
  std::string config = "{}";
  std::error_code error;
  if (fs::exists(configPath, error)) {
    TRAINC_ASSIGN_OR_RETURN(config, readWholeFile(configPath));
  }
  TRAINC_ASSIGN_OR_RETURN(TokenizerDefinition definition,
                          readVocabText(vocabPath.string(), vocab, configPath.string(), config));
  const std::array<uint64_t, 2> hashes = {hashOf(vocab), hashOf(config)};
  return PipelineTokenizer::create(std::move(definition), xxh3(std::as_bytes(std::span(hashes))));
}

Status rejectSentencePiece(const fs::path &model) {
  return invalidInput(
      "{}: a model of SentencePiece is not supported; expected a tokenizer.json. Hugging Face's transformers "
      "writes one: AutoTokenizer.from_pretrained('{}').save_pretrained('DIR')",
      model.string(), model.has_parent_path() ? model.parent_path().string() : ".");
}

/// Opens the tokenizer of a folder.
Result<std::unique_ptr<Tokenizer>> openFolder(const fs::path &folder) {
  std::error_code error;
  if (fs::exists(folder / "tokenizer.json", error))
    return openTokenizerJson(folder / "tokenizer.json");
  if (fs::exists(folder / "vocab.json", error))
    return openVocabMerges(folder);
  if (fs::exists(folder / "vocab.txt", error))
    return openVocabText(folder / "vocab.txt");
  for (const char *name : {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model"})
    if (fs::exists(folder / name, error))
      return rejectSentencePiece(folder / name);
  return invalidInput(
      "{}: expected a tokenizer.json, a vocab.json and a merges.txt, or BERT's vocab.txt in this folder",
      folder.string());
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
  if (fs::is_directory(path, error))
    return openFolder(path);
  if (path.filename() == "vocab.json" || path.filename() == "merges.txt")
    return openVocabMerges(path.parent_path());
  if (path.extension() == ".json")
    return openTokenizerJson(path);
  constexpr std::string_view kExpected =
      "expected 'bytes', a tokenizer.json, a vocab.json or merges.txt, BERT's "
      "vocab.txt, their folder, or a .gguf file";
  if (!fs::exists(path, error))
    return invalidInput("--tokenizer={}: no such file or folder; {}", name, kExpected);
  if (path.extension() == ".gguf")
    return openGgufTokenizer(path);
  if (path.extension() == ".txt")
    return openVocabText(path);
  if (path.extension() == ".model")
    return rejectSentencePiece(path);
  return invalidInput("--tokenizer={}: {}", name, kExpected);
}

} // namespace trainc
