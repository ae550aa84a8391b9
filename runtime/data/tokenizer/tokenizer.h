// Text to token ids and back.
#pragma once

#include "runtime/base/status.h"
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

/// A tokenizer. Texts are bytes: UTF-8 as a rule, but any bytes are encoded, and decode(encode(text)) is
/// `text` again unless the tokenizer changes texts (by a normalizer, a prefix, spaces that are stripped) or
/// knows not all characters. Encoding is not thread-safe.
class Tokenizer {
public:
  virtual ~Tokenizer() = default;

  /// Takes ids as they come, and how many bytes of the text they and all before them cover at least. An error
  /// from it ends the encoding.
  using Emit = std::function<Status(std::span<const uint32_t> ids, size_t bytesDone)>;

  /// Encodes `text` piece by piece. Added tokens (<|endoftext|>) in the text become their ids; none is put
  /// before or after it: that is for those who know where a text begins and ends (aroundText()). `continues`:
  /// `text` was cut off where lastCut() said. Errors are those of `emit`, and kInvalidInput for a pattern of
  /// the tokenizer that takes too long on this text.
  virtual Status encode(std::string_view text, bool continues, const Emit &emit) = 0;
  /// The last position found at which `text` can be cut, whatever follows it, so that both parts encode to
  /// the ids of the whole; 0 where there is none.
  virtual size_t lastCut(std::string_view text) const = 0;
  /// What belongs before every text and after it; nothing for most tokenizers.
  virtual const AroundText &aroundText() const = 0;
  /// One more than the largest id.
  virtual uint64_t vocabulary() const = 0;
  /// Decodes a text from its start. Added tokens give their content. The tokenizer must outlive it.
  virtual std::unique_ptr<TokenDecoder> decoder() const = 0;
  /// The id of a token given by its content, such as "<|endoftext|>".
  virtual std::optional<uint32_t> findToken(std::string_view content) const = 0;
  /// XXH3-64 of the tokenizer's files, to notice a change.
  virtual uint64_t fingerprint() const = 0;

  /// All ids of `text`.
  Result<std::vector<uint32_t>> encode(std::string_view text);
  /// The text of all ids.
  std::string decode(std::span<const uint32_t> ids) const;
};

/// Opens what --tokenizer names: "bytes" (a byte's id is its value), a tokenizer.json, a vocab.json or
/// merges.txt (with the other beside it), or a folder that holds either. Errors (kInvalidInput) name the
/// file, the place, and the piece that is not supported.
Result<std::unique_ptr<Tokenizer>> openTokenizer(const std::string &name);

} // namespace trainc
