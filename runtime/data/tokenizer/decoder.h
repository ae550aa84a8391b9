// Decoding of token ids to text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trainc {

/// Replaces every `pattern` in a token by `content`.
struct ReplaceInToken {
  std::string pattern;
  std::string content;
};
/// Replaces <0x00> to <0xFF> by the byte.
struct FallbackBytes {};
/// Converts the byte alphabet (byte_alphabet.h) to bytes; a token with other characters is unchanged.
struct FromByteAlphabet {};
/// Replaces `replacement` by a space or, with `dropFirst` in the first token, by nothing.
struct MetaspaceToSpace {
  std::string replacement;
  bool dropFirst;
};
/// Strips up to `start` times `content` from the begin, and up to `stop` times from the end, of each token
/// or, with `ofText`, of the whole text.
struct StripFrom {
  std::string content; ///< one character
  uint64_t start;
  uint64_t stop; ///< 0 if `ofText`
  bool ofText;
};
/// Inserts a space before each token but the first.
struct JoinWithSpaces {};
/// Removes `prefix` from each token but the first, or inserts a space before it. `cleanup`: removes spaces
/// before punctuation and English contractions within each token.
struct JoinWordPieces {
  std::string prefix;
  bool cleanup;
};
using DecoderStep = std::variant<ReplaceInToken, FallbackBytes, FromByteAlphabet, MetaspaceToSpace, StripFrom,
                                 JoinWithSpaces, JoinWordPieces>;

/// Decodes the tokens of one text in sequence.
class TokenDecoder {
public:
  virtual ~TokenDecoder() = default;
  /// The bytes that `id` adds to the text; empty for an id without a token.
  virtual std::string next(uint32_t id) = 0;
};

/// Maximum bytes of a decoded token.
inline constexpr size_t kMaxTokenBytes = size_t{1} << 20;

/// Runs the steps of a tokenizer's decoder, which must outlive this object.
class StepDecoder {
public:
  explicit StepDecoder(const std::vector<DecoderStep> &steps);
  /// The bytes that a token, in the vocabulary's spelling, adds to the text. Tokens that would grow to more
  /// than kMaxTokenBytes give some more than that.
  std::string next(std::string token);

private:
  const std::vector<DecoderStep> &steps_;
  std::vector<uint64_t> stripped_; ///< by step: remaining strips of a StripFrom with `ofText`
  bool first_ = true;
};

/// Incremental decoding in whole characters.
class TextStream {
public:
  explicit TextStream(std::unique_ptr<TokenDecoder> decoder) : decoder_(std::move(decoder)) {}
  /// The text that `id` completes. Bytes of an incomplete character are held back.
  std::string next(uint32_t id);
  /// The bytes held back at the end.
  std::string finish() { return std::move(held_); }

private:
  std::unique_ptr<TokenDecoder> decoder_;
  std::string held_;
};

} // namespace trainc
