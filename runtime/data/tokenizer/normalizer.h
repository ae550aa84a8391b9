// Normalization of a text before it is split into words.
#pragma once

#include "runtime/data/tokenizer/character_map.h"
#include "runtime/data/tokenizer/regex.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trainc {

/// Unicode normalization forms (NFC, NFD, NFKC, NFKD).
struct UnicodeForm {
  bool compose;
  bool compatible;
};
struct Lowercase {};
struct StripAccents {}; ///< removes marks
struct Prepend {
  std::string text;
};
/// Replaces each match by `content`.
struct Replace {
  Regex pattern;
  std::string content;
  bool isSpaceToMeta; ///< replaces " " by U+2581
};
/// Strips spaces from the begin and the end of the text.
struct StripSpaces {
  bool left;
  bool right;
};
/// Removes control characters, and makes spaces of others and of marks of direction (Nmt).
struct CleanNmt {};
/// Removes control characters, and makes each space U+0020 (BertNormalizer).
struct CleanBert {};
/// Inserts spaces around each Chinese character (BertNormalizer).
struct SeparateHan {};
/// Removes nonspacing marks, which are fewer than those of StripAccents (BertNormalizer).
struct StripNonspacing {};
using NormalizerStep = std::variant<UnicodeForm, Lowercase, StripAccents, Prepend, Replace, CharacterMap,
                                    StripSpaces, CleanNmt, CleanBert, SeparateHan, StripNonspacing>;

/// A normalized text.
struct NormalText {
  std::string text;
  bool lostBegin; ///< whether the first character was removed, not replaced
};

class Normalizer {
public:
  /// `file` is for messages.
  Normalizer(std::vector<NormalizerStep> steps, std::string file)
      : steps_(std::move(steps)), file_(std::move(file)) {}

  /// The normal form of `text` (UTF-8). `continues`: the text goes on after one that was normalized before,
  /// so nothing is prepended and no space stripped there. Fails (kInvalidInput) if the text would grow beyond
  /// measure.
  Result<NormalText> apply(std::string_view text, bool continues) const;

  const std::vector<NormalizerStep> &steps() const { return steps_; }

private:
  std::vector<NormalizerStep> steps_;
  std::string file_;
};

} // namespace trainc
