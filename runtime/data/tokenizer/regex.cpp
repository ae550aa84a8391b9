#include "runtime/data/tokenizer/regex.h"

#include "base/clock.h"
#include "base/plain_text.h"
#include "runtime/data/tokenizer/oniguruma.h"

#include <algorithm>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace trainc {

namespace {

/// Limits of steps and memory of a search from one character; usual patterns take a few steps per character.
constexpr uint32_t kMaxSteps = 10'000'000;
constexpr uint32_t kMaxHeapKib = 64 * 1024;
/// Limit of the time of all searches: for any text, and for each byte. Usual patterns take a hundredth of it.
constexpr double kMaxSeconds = 5, kMaxSecondsPerByte = 2e-6;
/// Maximum seconds that count for one search, because others may have had the processor meanwhile.
constexpr double kMaxMeasuredSeconds = 0.3;
/// The time of one of so many searches is measured, because reading the clock takes as long as a search.
constexpr uint64_t kSampling = 8;
/// Number of bytes from which one search tries to match.
constexpr size_t kSpan = 16;
constexpr size_t kMinStack = size_t{32} << 10, kMaxStack = size_t{8} << 20;

std::string messageOf(int error) {
  PCRE2_UCHAR message[256];
  pcre2_get_error_message(error, message, sizeof(message));
  return reinterpret_cast<const char *>(message);
}

PCRE2_SPTR unitsOf(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

} // namespace

Regex::Regex(Handle<pcre2_real_code_8> code, std::string where, std::string shown)
    : code_(std::move(code)), compiledToCode_(pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE) == 0),
      data_(pcre2_match_data_create_from_pattern(code_.get(), nullptr), pcre2_match_data_free),
      stack_(pcre2_jit_stack_create(kMinStack, kMaxStack, nullptr), pcre2_jit_stack_free),
      limits_(pcre2_match_context_create(nullptr), pcre2_match_context_free), where_(std::move(where)),
      shown_(std::move(shown)), usesStart_(shown_.find("\\G") != std::string::npos) {
  pcre2_set_match_limit(limits_.get(), kMaxSteps);
  pcre2_set_heap_limit(limits_.get(), kMaxHeapKib);
  pcre2_jit_stack_assign(limits_.get(), nullptr, stack_.get());
}

Result<Regex> Regex::compile(const std::string &where, const std::string &pattern, std::string shown) {
  int error = 0;
  PCRE2_SIZE at = 0;
  const std::unique_ptr<pcre2_compile_context, void (*)(pcre2_compile_context *)> context(
      pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  Handle<pcre2_real_code_8> code(pcre2_compile(unitsOf(pattern), pattern.size(),
                                               PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE |
                                                   PCRE2_NEVER_BACKSLASH_C | PCRE2_USE_OFFSET_LIMIT,
                                               &error, &at, context.get()),
                                 pcre2_code_free);
  if (!code)
    // The place is one in PCRE2's syntax, which may be another text.
    return invalidInput(
        "{}: the pattern {} is wrong{}: {}", where, printable(shown),
        pattern == shown
            ? fmt::format(" near its end '{}'", printable(pattern.substr(std::min(at, pattern.size()))))
            : "",
        messageOf(error));
  return Regex(std::move(code), where, std::move(shown));
}

Result<Regex> Regex::compileOniguruma(const std::string &where, const std::string &pattern) {
  TRAINC_ASSIGN_OR_RETURN(const std::string usual, pcre2Pattern(where, pattern, /*newCharacters=*/false));
  TRAINC_ASSIGN_OR_RETURN(const std::string full, pcre2Pattern(where, pattern, /*newCharacters=*/true));
  TRAINC_ASSIGN_OR_RETURN(Regex regex, compile(where, usual, pattern));
  if (full != usual) {
    TRAINC_ASSIGN_OR_RETURN(Regex forNew, compile(where, full, pattern));
    regex.forNewCharacters_ = std::make_unique<Regex>(std::move(forNew));
  }
  return regex;
}

const Regex &Regex::suited(std::string_view text) const {
  return forNewCharacters_ && mayHoldNewCharacters(text) ? *forNewCharacters_ : *this;
}

Result<Regex> Regex::literal(const std::string &where, std::string_view text) {
  std::string pattern;
  for (const char byte : text) {
    if (static_cast<unsigned char>(byte) < 0x80 && !std::isalnum(byte))
      pattern += byte == '\0' ? std::string("\\x{0}") : std::string{'\\', byte};
    else
      pattern += byte;
  }
  return compile(where, pattern, std::string(text));
}

/// Searches for a match that begins from `from` to `last`, and returns PCRE2's result.
int Regex::findWithin(std::string_view text, size_t from, size_t last) const {
  pcre2_set_offset_limit(limits_.get(), last);
  const auto search = [&](auto *function) {
    return function(code_.get(), unitsOf(text), text.size(), from, PCRE2_NO_UTF_CHECK, data_.get(),
                    limits_.get());
  };
  const bool isMeasured = searched_.searches++ % kSampling == 0;
  const double begin = isMeasured ? steadySeconds() : 0;
  int found = compiledToCode_ ? search(pcre2_jit_match) : search(pcre2_match);
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) // the interpreter uses the heap instead
    found = search(pcre2_match);
  if (isMeasured)
    searched_.seconds += kSampling * std::min(steadySeconds() - begin, kMaxMeasuredSeconds);
  return found;
}

Regex::Found Regex::find(std::string_view text, size_t from, Match &match, Status &status) const {
  const auto fails = [&](const std::string &reason) {
    status = invalidInput(
        "{}: the pattern {} takes too long or too much memory on this text ({}), near '{}'; simplify it, or "
        "cut the text into shorter lines",
        where_, printable(shown_), reason, printable(text.substr(from, 40)));
    return Found::kError;
  };
  for (;;) {
    if (searched_.seconds > kMaxSeconds + kMaxSecondsPerByte * static_cast<double>(searched_.bytes))
      return fails(fmt::format("{:.0f} s for {} bytes", searched_.seconds, searched_.bytes));
    // The limit of steps counts anew from each character.
    const bool isLast = usesStart_ || kSpan >= text.size() - from;
    const int found = findWithin(text, from, isLast ? text.size() : from + kSpan - 1);
    if (found > 0) {
      const PCRE2_SIZE *offsets = pcre2_get_ovector_pointer(data_.get());
      match = {offsets[0], offsets[1]};
      return Found::kMatch;
    }
    if (found != PCRE2_ERROR_NOMATCH)
      return fails(messageOf(found));
    if (isLast)
      return Found::kNothing;
    for (from += kSpan; from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80;)
      ++from;
  }
}

bool Regex::matchesEmpty() const {
  uint32_t matches = 0;
  pcre2_pattern_info(code_.get(), PCRE2_INFO_MATCHEMPTY, &matches);
  return matches != 0;
}

bool Regex::matches(std::string_view text) const {
  searched_.bytes += text.size();
  Match match{};
  Status status;
  return find(text, 0, match, status) == Found::kMatch;
}

} // namespace trainc
