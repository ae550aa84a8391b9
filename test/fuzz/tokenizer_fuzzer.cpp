// Any bytes as tokenizer.json and as merges.txt: a tokenizer that loses no byte of a text, or a refusal. What
// follows a zero byte of the input is the text.
#include "runtime/data/tokenizer/bpe_tokenizer.h"
#include "runtime/data/tokenizer/byte_alphabet.h"
#include "runtime/data/tokenizer/tokenizer_json.h"
#include "runtime/data/tokenizer/unicode.h"
#include "runtime/data/tokenizer/vocab_merges.h"

using namespace trainc;

namespace {

constexpr std::string_view kText =
    "It's  <|endoftext|> aaab ab\r\n\n 12345 \xC3\xA9\xE4\xBD\xA0\xF0\x9F\x98\x80 \xFF\xED\xA0\x80!";

/// A vocab.json of the 256 bytes and some longer tokens for merges to lead to.
std::string vocabulary() {
  nlohmann::json vocabulary;
  for (size_t byte = 0; byte < 256; ++byte) {
    std::string token;
    appendUtf8(byteAlphabet()[byte], token);
    vocabulary[token] = byte;
  }
  for (const char *token : {"aa", "ab", "aab", "aaab", "<|endoftext|>", "12", "123"})
    vocabulary[token] = vocabulary.size();
  return vocabulary.dump();
}

void tryOut(Result<BpeDefinition> definition, std::string_view text) {
  if (!definition.ok())
    return;
  // Added tokens may strip spaces, and may share an entry of the vocabulary that stands for other bytes.
  const bool exact = !definition->addPrefixSpace && definition->added.empty();
  const auto tokenizer = BpeTokenizer::create(std::move(*definition), 0);
  if (!tokenizer.ok())
    return;
  const std::vector<uint32_t> ids = (*tokenizer)->encode(text);
  if (exact && (*tokenizer)->decode(ids) != text)
    __builtin_trap();
  for (const uint32_t id : ids)
    if (id >= (*tokenizer)->vocabulary())
      __builtin_trap();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::string kVocabulary = vocabulary();
  const std::string_view input(reinterpret_cast<const char *>(data), size);
  const size_t end = input.find('\0');
  const std::string_view file = input.substr(0, end);
  const std::string_view text = end == std::string_view::npos ? kText : input.substr(end + 1);
  tryOut(readTokenizerJson("tokenizer.json", file), text);
  tryOut(readVocabMerges("vocab.json", kVocabulary, "merges.txt", file), text);
  return 0;
}
