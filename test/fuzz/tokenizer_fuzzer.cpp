// Any bytes as tokenizer.json, as merges.txt and as vocab.txt: an error, or a tokenizer that loses no byte of
// a text where nothing in the file says so, streams what it decodes, and encodes a text in pieces as the
// whole. What follows a zero byte of the input is the text.
#include "runtime/data/tokenizer/byte_alphabet.h"
#include "runtime/data/tokenizer/pipeline_tokenizer.h"
#include "runtime/data/tokenizer/tokenizer_json.h"
#include "runtime/data/tokenizer/vocab_merges.h"
#include "runtime/data/tokenizer/vocab_text.h"

#include <algorithm>

using namespace trainc;

namespace {

constexpr std::string_view kText =
    "It's  <|endoftext|> aaab ab\r\n\n 12345 \xC3\xA9\xE4\xBD\xA0\xF0\x9F\x98\x80 \xFF\xED\xA0\x80!";

/// A vocab.json of the 256 bytes and some longer tokens for merges to lead to.
std::string vocabulary() {
  nlohmann::json vocabulary;
  for (size_t byte = 0; byte < 256; ++byte) {
    const char value = static_cast<char>(byte);
    vocabulary[inByteAlphabet(std::string_view(&value, 1))] = byte;
  }
  for (const char *token : {"aa", "ab", "aab", "aaab", "<|endoftext|>", "12", "123"})
    vocabulary[token] = vocabulary.size();
  return vocabulary.dump();
}

/// Whether a tokenizer.json has neither a token for what is unknown nor tokens that stand for bytes.
bool keepsBytes(std::string_view file) {
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("model"))
    return false;
  const nlohmann::json &model = json["model"];
  return model.is_object() && !model.contains("unk_token") && !model.contains("byte_fallback");
}

/// Whether the tokenizer gives every text back if its model `keepsBytes`: added tokens may strip spaces, and
/// may share an entry of the vocabulary that stands for other bytes.
bool isExact(const TokenizerDefinition &definition) {
  const auto keeps = [](const PreTokenizerStep &step) {
    const auto *split = std::get_if<Split>(&step);
    return split && split->behavior != SplitBehavior::kRemoved;
  };
  return definition.units == Units::kBytes && definition.normalizer.empty() && definition.added.empty() &&
         std::ranges::all_of(definition.preTokenizer, keeps);
}

std::vector<uint32_t> idsOf(Tokenizer &tokenizer, std::string_view text, bool continues) {
  std::vector<uint32_t> all;
  const Status status = tokenizer.encode({text, continues}, [&](std::span<const uint32_t> ids, size_t) {
    all.insert(all.end(), ids.begin(), ids.end());
    return Status();
  });
  return status.ok() ? all : std::vector<uint32_t>(); // a pattern may take too long
}

void tryOut(Result<TokenizerDefinition> definition, bool keepsBytes, std::string_view text) {
  if (!definition.ok())
    return;
  const bool exact = keepsBytes && isExact(*definition);
  const auto tokenizer = PipelineTokenizer::create(std::move(*definition), 0);
  if (!tokenizer.ok())
    return;
  const std::vector<uint32_t> ids = idsOf(**tokenizer, text, false);
  if (exact && !ids.empty() && (*tokenizer)->decode(ids) != text)
    __builtin_trap();
  for (const uint32_t id : ids)
    if (id >= (*tokenizer)->vocabulary())
      __builtin_trap();
  TextStream stream((*tokenizer)->decoder());
  std::string streamed;
  for (const uint32_t id : ids)
    streamed += stream.next(id);
  if (streamed + stream.finish() != (*tokenizer)->decode(ids))
    __builtin_trap();
  if (const size_t cut = (*tokenizer)->lastCut(text); cut > 0 && !ids.empty()) {
    std::vector<uint32_t> parts = idsOf(**tokenizer, text.substr(0, cut), false);
    const std::vector<uint32_t> second = idsOf(**tokenizer, text.substr(cut), true);
    std::ranges::copy(second, std::back_inserter(parts));
    if (!second.empty() && parts.size() > second.size() && parts != ids)
      __builtin_trap();
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::string kVocabulary = vocabulary();
  const std::string_view input(reinterpret_cast<const char *>(data), size);
  const size_t end = input.find('\0');
  const std::string_view file = input.substr(0, end);
  const std::string_view text = end == std::string_view::npos ? kText : input.substr(end + 1);
  tryOut(readTokenizerJson("tokenizer.json", file), keepsBytes(file), text);
  tryOut(readVocabMerges("vocab.json", kVocabulary, "merges.txt", file), /*keepsBytes=*/true, text);
  tryOut(readVocabText("vocab.txt", file, "tokenizer_config.json", "{}"), /*keepsBytes=*/false, text);
  return 0;
}
