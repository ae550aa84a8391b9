#include "runtime/data/tokenizer/normalizer.h"

#include "base/plain_text.h"
#include "runtime/data/tokenizer/unicode.h"

#include <algorithm>
#include <cstdlib>
#include <utf8proc.h>

namespace trainc {

namespace {

bool isAsciiByte(char byte) { return static_cast<unsigned char>(byte) < 0x80; }

Status appendForm(const UnicodeForm &form, std::string_view text, std::string &out) {
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

/// ASCII is unchanged in every form, and combines only with later characters.
Status normalize(const UnicodeForm &form, std::string &text, size_t) {
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

Status normalize(const Lowercase &, std::string &text, size_t) {
  std::string out;
  out.reserve(text.size());
  for (size_t position = 0; position < text.size();) {
    const auto character = static_cast<utf8proc_int32_t>(nextCharacter(text, position).value_or(0xFFFD));
    if (character == 0x130) // the only letter whose lower case has two characters
      out += "i\u0307";
    else
      appendUtf8(static_cast<uint32_t>(utf8proc_tolower(character)), out);
  }
  text = std::move(out);
  return {};
}

Status normalize(const StripAccents &, std::string &text, size_t) {
  std::string out;
  out.reserve(text.size());
  for (size_t position = 0; position < text.size();) {
    const size_t begin = position;
    if (!isMark(nextCharacter(text, position).value_or(0xFFFD)))
      out.append(text, begin, position - begin);
  }
  text = std::move(out);
  return {};
}

Status normalize(const Prepend &prepend, std::string &text, size_t) {
  if (!text.empty())
    text.insert(0, prepend.text);
  return {};
}

/// Stops soon after the text has more than `maxBytes` bytes.
Status normalize(const Replace &replace, std::string &text, size_t maxBytes) {
  std::string out;
  out.reserve(text.size());
  Status status;
  const bool complete =
      replace.pattern.forEachPart(text, status, [&](size_t begin, size_t end, bool isMatch) {
        isMatch ? out.append(replace.content) : out.append(text, begin, end - begin);
        return out.size() <= maxBytes;
      });
  if (complete || out.size() > maxBytes)
    text = std::move(out);
  return status;
}

} // namespace

Result<std::string> Normalizer::apply(std::string_view text, bool continues) const {
  // The forms of Unicode make at most 11 bytes of one, and a prefix is short.
  constexpr size_t kMaxGrowth = 32, kMaxPrefix = 1024;
  const size_t maxBytes = kMaxGrowth * text.size() + kMaxPrefix;
  std::string result(text);
  for (const NormalizerStep &step : steps_) {
    if (continues && std::holds_alternative<Prepend>(step))
      continue;
    TRAINC_RETURN_IF_ERROR(
        std::visit([&](const auto &known) { return normalize(known, result, maxBytes); }, step));
    if (result.size() > maxBytes)
      return invalidInput(
          "{}: normalizer: makes more than {} bytes of {} bytes of text; expected at most {} times as "
          "many",
          file_, maxBytes, text.size(), kMaxGrowth);
  }
  return result;
}

} // namespace trainc
