// Token ids to text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trainc {

/// Every `pattern` in a token becomes `content`.
struct ReplaceInToken {
  std::string pattern;
  std::string content;
};
/// <0x00> to <0xFF> become the byte.
struct FallbackBytes {};
/// The byte alphabet (byte_alphabet.h) becomes bytes; a token with other characters stays as it is.
struct FromByteAlphabet {};
/// `replacement` becomes a space; `dropFirst`: nothing, in the first token.
struct MetaspaceToSpace {
  std::string replacement;
  bool dropFirst;
};
/// Up to `start` of `content` go from the beginning, up to `stop` from the end: of each token, or of the
/// whole text if `ofText`.
struct StripFrom {
  std::string content; ///< one character
  uint64_t start;
  uint64_t stop; ///< 0 if `ofText`
  bool ofText;
};
/// A space goes before each token but the first.
struct JoinWithSpaces {};
using DecoderStep = std::variant<ReplaceInToken, FallbackBytes, FromByteAlphabet, MetaspaceToSpace, StripFrom,
                                 JoinWithSpaces>;

/// Decodes the tokens of one text, one after the other.
class TokenDecoder {
public:
  virtual ~TokenDecoder() = default;
  /// The bytes that `id` adds to the text; none for an id without token.
  virtual std::string next(uint32_t id) = 0;
};

/// Runs the steps of a tokenizer's decoder, which must outlive it.
class StepDecoder {
public:
  explicit StepDecoder(const std::vector<DecoderStep> &steps);
  /// The bytes that a token, as the vocabulary has it, adds to the text.
  std::string next(std::string token);

private:
  const std::vector<DecoderStep> &steps_;
  std::vector<uint64_t> stripped_; ///< by step: what StripFrom of the text may still take
  bool first_ = true;
};

/// Text as it grows, in whole characters.
class TextStream {
public:
  explicit TextStream(std::unique_ptr<TokenDecoder> decoder) : decoder_(std::move(decoder)) {}
  /// The text that `id` completes. Bytes of a character that is not complete yet are held back.
  std::string next(uint32_t id);
  /// What is held back at the end.
  std::string finish() { return std::move(held_); }

private:
  std::unique_ptr<TokenDecoder> decoder_;
  std::string held_;
};

} // namespace trainc
