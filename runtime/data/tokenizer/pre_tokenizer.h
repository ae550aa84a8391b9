// Splitting of a text into words.
#pragma once

#include "runtime/data/tokenizer/regex.h"

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trainc {

/// Treatment of the text that a pattern matched.
enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

/// Context on which the cuts of a Split may depend; it decides whether a long text can be read in pieces.
enum class SplitReach {
  kCharacter, ///< certain neighbouring characters, whatever surrounds them
  kWord,      ///< a word: there is a cut between each letter and a following space, tab or newline
  kSpace,     ///< like kWord, and there is a cut before each space, tab or newline, whatever precedes it
  kMeta,      ///< like kCharacter, and there is a cut before each U+2581 that does not follow another
  kWhole,     ///< unknown: the whole text
};

struct Split {
  Regex pattern;
  SplitBehavior behavior = SplitBehavior::kIsolated;
  bool invert = false; ///< the text between matches counts as matched
  SplitReach reach = SplitReach::kWhole;
};
/// Inserts a space before each piece that does not begin with one.
struct PrefixSpace {};
/// Converts bytes to the byte alphabet (byte_alphabet.h).
struct ToByteAlphabet {};
/// Replaces spaces by `replacement`, and inserts it before pieces that do not begin with it.
struct Metaspace {
  enum class Before { kNever, kFirst, kAlways }; ///< kFirst: only before the first piece of the text
  std::string replacement;
  Before before;
};
using PreTokenizerStep = std::variant<Split, PrefixSpace, ToByteAlphabet, Metaspace>;

/// Position of a stretch of text.
enum class StretchPlace {
  kFirst,     ///< at the begin of the text
  kAfter,     ///< after an added token
  kContinues, ///< continues the same stretch: nothing is inserted before it
};

class PreTokenizer {
public:
  /// `file` is for messages.
  PreTokenizer(std::vector<PreTokenizerStep> steps, std::string file)
      : steps_(std::move(steps)), file_(std::move(file)) {}

  using OnWord = std::function<bool(std::string_view word)>;
  /// Calls `onWord` with each word of `text` (UTF-8), in order. False if `onWord` returned false, or a
  /// pattern took too long or the text grew beyond measure, which sets `status`.
  bool forEachWord(std::string_view text, StretchPlace place, Status &status, const OnWord &onWord) const;

  const std::vector<PreTokenizerStep> &steps() const { return steps_; }

private:
  struct Run;
  bool run(size_t step, std::string_view text, bool atStart, Run &run) const;

  std::vector<PreTokenizerStep> steps_;
  std::string file_;
};

} // namespace trainc
