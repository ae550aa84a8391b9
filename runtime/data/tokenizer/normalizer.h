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
  /// `file` is for messages.
  Normalizer(std::vector<NormalizerStep> steps, std::string file)
      : steps_(std::move(steps)), file_(std::move(file)) {}

  /// The normal form of `text` (UTF-8). `continues`: the text goes on after one that was normalized before,
  /// so nothing is prepended. Fails (kInvalidInput) if the text would grow beyond measure.
  Result<std::string> apply(std::string_view text, bool continues) const;

  const std::vector<NormalizerStep> &steps() const { return steps_; }

private:
  std::vector<NormalizerStep> steps_;
  std::string file_;
};

} // namespace trainc
