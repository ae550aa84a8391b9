// Interface of tokenizers: text to token ids and back.
#pragma once

#include "base/status.h"
#include "runtime/data/tokenizer/around_text.h"
#include "runtime/data/tokenizer/decoder.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// A text, or a piece of one.
struct TextPiece {
  std::string_view text;
  bool continues = false;           ///< it was cut off where Tokenizer::lastCut() said
  std::string_view name = "a text"; ///< of the whole text, for messages
  uint64_t offset = 0;              ///< of the piece in the whole text, for messages
};

/// A tokenizer. Texts are usually UTF-8, but any bytes can be encoded. decode(encode(text)) equals `text`
/// unless the tokenizer changes texts (by a normalizer, a prefix, stripped spaces) or lacks characters.
/// Encoding is not thread-safe.
class Tokenizer {
public:
  virtual ~Tokenizer() = default;

  /// Receives ids incrementally, and a lower bound of the bytes of text that the ids so far cover. An error
  /// ends the encoding.
  using Emit = std::function<Status(std::span<const uint32_t> ids, size_t bytesDone)>;

  /// Encodes `piece` incrementally. Added tokens (<|endoftext|>) in the text become their ids; none is added
  /// before or after the text, because only the caller knows where a text begins and ends (aroundText()).
  /// Fails like `emit`, and with kInvalidInput if the vocabulary lacks a byte of the text, or a pattern or a
  /// normalizer takes too much time or memory on it.
  virtual Status encode(const TextPiece &piece, const Emit &emit) = 0;
  /// The last known position at which `text` can be cut, whatever follows, so that both parts encode to the
  /// ids of the whole; 0 if there is none.
  virtual size_t lastCut(std::string_view text) const = 0;
  /// Tokens to add before and after every text; empty for most tokenizers.
  virtual const AroundText &aroundText() const = 0;
  /// Maximum id plus one.
  virtual uint64_t vocabulary() const = 0;
  /// Creates a decoder for a text from its begin. Added tokens decode to their content. The tokenizer must
  /// outlive the decoder.
  virtual std::unique_ptr<TokenDecoder> decoder() const = 0;
  /// Whether some token has this id.
  virtual bool knows(uint32_t id) const = 0;
  /// The id of a token given by its content, such as "<|endoftext|>".
  virtual std::optional<uint32_t> findToken(std::string_view content) const = 0;
  /// XXH3-64 of the tokenizer's files, to detect changes.
  virtual uint64_t fingerprint() const = 0;

  /// All ids of `text`, which messages call `name`.
  Result<std::vector<uint32_t>> encode(std::string_view text, std::string_view name = "a text");
  /// The text of all ids.
  std::string decode(std::span<const uint32_t> ids) const;
};

/// Opens what --tokenizer names: "bytes" (a byte's id is its value), a tokenizer.json, a vocab.json or
/// merges.txt (with the other beside it), BERT's vocab.txt, a folder that holds one of them, or a .gguf file
/// with a tokenizer. Errors (kInvalidInput) name the file, the place, and the piece that is not supported.
Result<std::unique_ptr<Tokenizer>> openTokenizer(const std::string &name);

} // namespace trainc
