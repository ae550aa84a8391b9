// Regular expressions of tokenizers, using PCRE2.
#pragma once

#include "base/status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;
struct pcre2_real_jit_stack_8;

namespace trainc {

/// A compiled pattern. Not thread-safe: it holds search state.
class Regex {
public:
  /// Compiles a pattern in PCRE2's syntax. `where` and `shown` (the pattern as in its file) are for messages.
  /// Errors (kInvalidInput) say what PCRE2 found, and where in the pattern.
  static Result<Regex> compile(const std::string &where, const std::string &pattern, std::string shown);
  /// Compiles a pattern in Oniguruma's syntax, which tokenizer.json uses; see oniguruma.h.
  static Result<Regex> compileOniguruma(const std::string &where, const std::string &pattern);
  /// A pattern that matches `text` literally.
  static Result<Regex> literal(const std::string &where, std::string_view text);

  struct Match {
    size_t begin;
    size_t end;
  };
  enum class Found { kMatch, kNothing, kError };
  /// Finds the first match in `text` (UTF-8) at or after `from`, and sets `match`. On kError, `status`
  /// (kInvalidInput) says that the pattern takes too long: on this text, or on all that it has searched.
  Found find(std::string_view text, size_t from, Match &match, Status &status) const;

  /// Whether the pattern can match the empty text.
  bool matchesEmpty() const;

  /// Whether `text` contains a match.
  bool matches(std::string_view text) const;

  /// Calls `onPart(begin, end, isMatch)` for each match and for the text between, in order, like Hugging
  /// Face's iteration over Oniguruma's matches: an empty match counts unless it begins where the previous one
  /// ended. Returns false if `onPart` did, or if the search failed; the latter sets `status`.
  template <typename OnPart>
  bool forEachPart(std::string_view text, Status &status, const OnPart &onPart) const;

private:
  /// Amount that a pattern has searched, to bound its time.
  struct Searched {
    uint64_t bytes = 0;    ///< of texts
    uint64_t searches = 0; ///< calls of PCRE2
    double seconds = 0;    ///< of all searches, estimated from some
  };

  const Regex &suited(std::string_view text) const;
  int findWithin(std::string_view text, size_t from, size_t last) const;

  template <typename T> using Handle = std::unique_ptr<T, void (*)(T *)>;
  Regex(Handle<pcre2_real_code_8> code, std::string where, std::string shown);

  Handle<pcre2_real_code_8> code_;
  bool compiledToCode_; ///< by PCRE2's JIT compiler, which some systems forbid
  Handle<pcre2_real_match_data_8> data_;
  Handle<pcre2_real_jit_stack_8> stack_;
  Handle<pcre2_real_match_context_8> limits_;
  std::string where_;
  std::string shown_;
  bool usesStart_; ///< whether the pattern has `\G`, the start of the search
  mutable Searched searched_;
  /// Variant for texts with new characters (oniguruma.h); null if identical.
  std::unique_ptr<Regex> forNewCharacters_;
};

template <typename OnPart>
bool Regex::forEachPart(std::string_view text, Status &status, const OnPart &onPart) const {
  constexpr size_t kNone = static_cast<size_t>(-1);
  size_t done = 0;
  size_t lastEnd = kNone;
  Match match{};
  const Regex &regex = suited(text);
  regex.searched_.bytes += text.size();
  for (size_t from = 0; from <= text.size();) {
    const Found found = regex.find(text, from, match, status);
    if (found == Found::kError)
      return false;
    if (found == Found::kNothing)
      break;
    if (match.begin == match.end && match.end == lastEnd) {
      for (++from; from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80;)
        ++from;
      continue;
    }
    from = lastEnd = match.end;
    if (match.begin > done && !onPart(done, match.begin, false))
      return false;
    if (!onPart(match.begin, match.end, true))
      return false;
    done = match.end;
  }
  return done == text.size() || onPart(done, text.size(), false);
}

} // namespace trainc
