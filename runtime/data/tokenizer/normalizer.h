// Normalization of a text before it is split into words.
#pragma once

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
using NormalizerStep = std::variant<UnicodeForm, Lowercase, StripAccents, Prepend, Replace>;

class Normalizer {
public:
  explicit Normalizer(std::vector<NormalizerStep> steps) : steps_(std::move(steps)) {}

  /// The normal form of `text` (UTF-8). With `continues`, the text continues an earlier one, so nothing is
  /// prepended.
  Result<std::string> apply(std::string_view text, bool continues) const;

  const std::vector<NormalizerStep> &steps() const { return steps_; }

private:
  std::vector<NormalizerStep> steps_;
};

} // namespace trainc
