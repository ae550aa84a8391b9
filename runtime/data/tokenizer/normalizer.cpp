#include "runtime/data/tokenizer/normalizer.h"

#include "base/plain_text.h"
#include "runtime/data/tokenizer/unicode.h"

#include <algorithm>
#include <cstdlib>
#include <utf8proc.h>

namespace trainc {

namespace {

bool isAsciiByte(char byte) { return static_cast<unsigned char>(byte) < 0x80; }

/// Minimum length of a row of combining marks that orderMarks() sorts.
constexpr size_t kManyMarks = 64;

int combiningClass(uint32_t character) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(character))->combining_class;
}

/// Maximum characters of a decomposition that may be made of marks alone.
constexpr utf8proc_ssize_t kMaxParts = 4;

/// Decomposes one character, in canonical order; 0 if it has more than kMaxParts parts.
utf8proc_ssize_t decompose(const UnicodeForm &form, uint32_t character,
                           utf8proc_int32_t (&parts)[kMaxParts]) {
  int boundary = 0;
  const int options = UTF8PROC_DECOMPOSE | (form.compatible ? UTF8PROC_COMPAT : 0);
  const utf8proc_ssize_t count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(character), parts, kMaxParts,
                              static_cast<utf8proc_option_t>(options), &boundary);
  return count <= kMaxParts ? count : 0;
}

/// Puts long rows of combining marks in canonical order, which every normalization form does. utf8proc
/// inserts one mark after the other, in quadratic time, unless they are in order.
std::string orderMarks(const UnicodeForm &form, std::string_view text) {
  constexpr unsigned char kFirstLead = 0xCC; // of the UTF-8 of combining marks
  const auto mayBeMark = [](char byte) { return static_cast<unsigned char>(byte) >= kFirstLead; };
  if (std::ranges::count_if(text, mayBeMark) < std::ptrdiff_t(kManyMarks))
    return std::string(text);
  std::string ordered;
  struct Mark {
    int order;       ///< combining class
    size_t position; ///< marks of one class keep their order
    uint32_t character;
    auto operator<=>(const Mark &) const = default;
  };
  std::vector<Mark> marks;
  const auto append = [&](size_t begin, size_t end) {
    if (marks.size() < kManyMarks) {
      ordered.append(text.substr(begin, end - begin));
    } else {
      std::ranges::sort(marks);
      for (const Mark &mark : marks)
        appendUtf8(mark.character, ordered);
    }
    marks.clear();
  };
  size_t begin = 0; // of the row of marks
  for (size_t at = 0; at < text.size();) {
    const size_t here = at;
    const std::optional<uint32_t> character = nextCharacter(text, at);
    // A few characters of class 0 are made of marks alone.
    utf8proc_int32_t parts[kMaxParts];
    const utf8proc_ssize_t count = character ? decompose(form, *character, parts) : 0;
    if (count > 0 && std::all_of(parts, parts + count,
                                 [](utf8proc_int32_t part) { return combiningClass(uint32_t(part)) != 0; })) {
      for (utf8proc_ssize_t part = 0; part < count; ++part)
        marks.push_back({combiningClass(uint32_t(parts[part])), marks.size(), uint32_t(parts[part])});
      continue;
    }
    append(begin, here);
    at = std::max(at, here + 1);
    ordered.append(text.substr(here, at - here));
    begin = at;
  }
  append(begin, text.size());
  return ordered;
}

Status appendForm(const UnicodeForm &form, std::string_view given, std::string &out) {
  const std::string text = orderMarks(form, given);
  utf8proc_uint8_t *mapped = nullptr;
  const int options = UTF8PROC_STABLE | (form.compose ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
                      (form.compatible ? UTF8PROC_COMPAT : 0);
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t *>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                                             static_cast<utf8proc_option_t>(options));
  if (size < 0)
    return failed("a text of {} bytes cannot be normalized: {}", text.size(), utf8proc_errmsg(size));
  out.append(reinterpret_cast<const char *>(mapped), static_cast<size_t>(size));
  std::free(mapped);
  return {};
}

/// Context of the steps of one text.
struct Context {
  bool continues;         ///< the text goes on after one that was normalized before
  size_t maxBytes;        ///< of the result; a step may stop soon after more
  bool lostBegin = false; ///< whether a step has removed the first character
};

/// Replaces the text by what `append(character, bytes, out)` makes of each character and its bytes.
template <typename Append>
Status changeCharacters(std::string &text, Context &context, const Append &append) {
  std::string out;
  out.reserve(text.size());
  for (size_t position = 0; position < text.size();) {
    const size_t begin = position;
    const uint32_t character = nextCharacter(text, position).value_or(0xFFFD);
    append(character, std::string_view(text).substr(begin, position - begin), out);
    context.lostBegin |= out.empty();
  }
  text = std::move(out);
  return {};
}

/// ASCII is unchanged in every form, and combines only with later characters.
Status normalize(const UnicodeForm &form, std::string &text, Context &) {
  if (std::ranges::all_of(text, isAsciiByte))
    return {};
  std::string out;
  out.reserve(text.size());
  for (size_t position = 0; position < text.size();) {
    const auto next =
        std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(position), text.end(), isAsciiByte);
    const auto after = std::find_if(next, text.end(), isAsciiByte);
    const auto at = static_cast<size_t>(next - text.begin());
    const size_t begin = at > position ? at - 1 : at;
    const auto end = static_cast<size_t>(after - text.begin());
    if (next == text.end()) {
      out.append(text, position);
      break;
    }
    out.append(text, position, begin - position);
    TRAINC_RETURN_IF_ERROR(appendForm(form, std::string_view(text).substr(begin, end - begin), out));
    position = end;
  }
  text = std::move(out);
  return {};
}

Status normalize(const Lowercase &, std::string &text, Context &context) {
  return changeCharacters(text, context, [](uint32_t character, std::string_view, std::string &out) {
    if (character == 0x130) // the only letter whose lower case has two characters
      out += "i\u0307";
    else
      appendUtf8(static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(character))), out);
  });
}

Status normalize(const StripAccents &, std::string &text, Context &context) {
  return changeCharacters(text, context, [](uint32_t character, std::string_view bytes, std::string &out) {
    if (!isMark(character))
      out += bytes;
  });
}

Status normalize(const StripNonspacing &, std::string &text, Context &context) {
  return changeCharacters(text, context, [](uint32_t character, std::string_view bytes, std::string &out) {
    if (!isNonspacingMark(character))
      out += bytes;
  });
}

Status normalize(const CleanNmt &, std::string &text, Context &context) {
  return changeCharacters(text, context, [](uint32_t c, std::string_view bytes, std::string &out) {
    const bool isControl =
        (c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f || c == 0x8f || c == 0x9f;
    const bool isBlank = (c >= 9 && c <= 0xd) || c == 0x1680 || (c >= 0x200b && c <= 0x200f) || c == 0x2028 ||
                         c == 0x2029 || c == kMetaCharacter || c == 0xfeff || c == 0xfffd;
    if (!isControl)
      out += isBlank ? " " : bytes;
  });
}

Status normalize(const CleanBert &, std::string &text, Context &context) {
  return changeCharacters(text, context, [](uint32_t character, std::string_view bytes, std::string &out) {
    if (!isOther(character))
      out += isSpace(character) ? " " : bytes;
  });
}

Status normalize(const SeparateHan &, std::string &text, Context &context) {
  return changeCharacters(text, context, [](uint32_t character, std::string_view bytes, std::string &out) {
    const bool han = isHanOfBert(character);
    out.append(han ? " " : "").append(bytes).append(han ? " " : "");
  });
}

Status normalize(const StripSpaces &strip, std::string &text, Context &context) {
  size_t begin = 0, end = text.size();
  for (size_t next = 0; strip.left && !context.continues && next < end; begin = next)
    if (!isSpace(nextCharacter(text, next).value_or(0xFFFD)))
      break;
  while (strip.right && end > begin) {
    const size_t last = lastCharacter(std::string_view(text).substr(0, end));
    size_t next = last;
    if (!isSpace(nextCharacter(text, next).value_or(0xFFFD)))
      break;
    end = last;
  }
  context.lostBegin |= begin > 0;
  text = text.substr(begin, end - begin);
  return {};
}

Status normalize(const Prepend &prepend, std::string &text, Context &context) {
  if (!context.continues && !text.empty())
    text.insert(0, prepend.text);
  return {};
}

Status normalize(const CharacterMap &map, std::string &text, Context &context) {
  text = map.apply(text, context.maxBytes);
  return {};
}

size_t characters(std::string_view text, size_t bytes = std::string_view::npos) {
  const auto isLead = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };
  return static_cast<size_t>(std::ranges::count_if(text.substr(0, bytes), isLead));
}

Status normalize(const Replace &replace, std::string &text, Context &context) {
  std::string out;
  out.reserve(text.size());
  Status status;
  const bool complete =
      replace.pattern.forEachPart(text, status, [&](size_t begin, size_t end, bool isMatch) {
        isMatch ? out.append(replace.content) : out.append(text, begin, end - begin);
        context.lostBegin |= isMatch && begin == 0 && characters(text, end) > characters(replace.content);
        return out.size() <= context.maxBytes;
      });
  if (complete || out.size() > context.maxBytes)
    text = std::move(out);
  return status;
}

} // namespace

Result<NormalText> Normalizer::apply(std::string_view text, bool continues) const {
  // The forms of Unicode make at most 11 bytes of one, and a prefix is short.
  constexpr size_t kMaxGrowth = 32, kMaxPrefix = 1024;
  const size_t maxBytes = kMaxGrowth * text.size() + kMaxPrefix;
  Context context{continues, maxBytes};
  std::string result(text);
  for (const NormalizerStep &step : steps_) {
    TRAINC_RETURN_IF_ERROR(
        std::visit([&](const auto &known) { return normalize(known, result, context); }, step));
    if (result.size() > maxBytes)
      return invalidInput(
          "{}: normalizer: makes more than {} bytes of {} bytes of text; expected at most {} times as many",
          file_, maxBytes, text.size(), kMaxGrowth);
  }
  return NormalText{std::move(result), context.lostBegin};
}

} // namespace trainc
