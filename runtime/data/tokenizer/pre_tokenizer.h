// Cuts a text into words.
#pragma once

#include "runtime/data/tokenizer/regex.h"

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trainc {

/// What becomes of what a pattern matched.
enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

/// What the cuts of a Split can depend on, so that a long text can be read in pieces.
enum class SplitReach {
  kCharacter, ///< they lie beside certain characters, whatever is around
  kWord,      ///< a cut lies between each letter and a space, tab or newline after it
  kMeta,      ///< as kCharacter, and a cut lies before each U+2581 that is not behind another
  kWhole,     ///< unknown: the whole text
};

struct Split {
  Regex pattern;
  SplitBehavior behavior = SplitBehavior::kIsolated;
  bool invert = false; ///< what lies between the matches counts as matched
  SplitReach reach = SplitReach::kWhole;
};
/// A space goes before each piece that does not begin with one.
struct PrefixSpace {};
/// Bytes become their stand-ins (byte_alphabet.h).
struct ToByteAlphabet {};
/// Spaces become `replacement`, which also goes before pieces that do not begin with it.
struct Metaspace {
  enum class Before { kNever, kFirst, kAlways }; ///< kFirst: before the first piece of the text
  std::string replacement;
  Before before;
};
using PreTokenizerStep = std::variant<Split, PrefixSpace, ToByteAlphabet, Metaspace>;

/// Where a stretch of text stands.
enum class StretchPlace {
  kFirst,     ///< at the start of the text
  kAfter,     ///< after an added token
  kContinues, ///< after text that is part of the same stretch: nothing is put before it
};

class PreTokenizer {
public:
  explicit PreTokenizer(std::vector<PreTokenizerStep> steps) : steps_(std::move(steps)) {}

  using OnWord = std::function<bool(std::string_view word)>;
  /// Calls `onWord` with each word of `text` (UTF-8), in order. False if `onWord` returned false or a pattern
  /// took too long, which sets `status`.
  bool forEachWord(std::string_view text, StretchPlace place, Status &status, const OnWord &onWord) const;

  const std::vector<PreTokenizerStep> &steps() const { return steps_; }

private:
  struct Run;
  bool run(size_t step, std::string_view text, bool atStart, const Run &run) const;

  std::vector<PreTokenizerStep> steps_;
};

} // namespace trainc
