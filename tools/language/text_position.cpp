#include "tools/language/text_position.h"

#include "base/plain_text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace trainc {

bool isWordCharacter(char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; }

namespace {

/// Length of the text after an opening quote up to the closing quote, or to the end of the line.
size_t quotedLength(StringRef text) {
  size_t at = 1;
  while (at < text.size() && text[at] != '"' && text[at] != '\n')
    at += text[at] == '\\' ? 2 : 1;
  return std::min(text.size(), at < text.size() && text[at] == '"' ? at + 1 : at);
}

/// Length of the blank, line end or comment at the beginning of `text`.
size_t skippedLength(StringRef text) {
  if (text.starts_with("//"))
    return std::min(text.size(), text.find('\n'));
  return !text.empty() && llvm::isSpace(text[0]) ? 1 : 0;
}

StringRef tokenAt(StringRef rest) {
  if (rest.empty())
    return rest;
  if (rest[0] == '"')
    return rest.take_front(quotedLength(rest));
  if (rest.starts_with("$(")) {
    const size_t end = rest.find_first_of(")\n");
    return rest.take_front(end != StringRef::npos && rest[end] == ')' ? end + 1 : end);
  }
  const bool hasSigil = rest.size() > 1 && StringRef("%@").contains(rest[0]) && isWordCharacter(rest[1]);
  if (hasSigil || isWordCharacter(rest[0]))
    return rest.take_front(1 + rest.drop_front().take_while(isWordCharacter).size());
  size_t end = 0;
  (void)nextCharacter(std::string_view(rest), end);
  return rest.take_front(end);
}

/// Calls visit(offset, character) for each character outside quotes and comments, until it returns false.
template <typename Visitor> void forEachSign(StringRef text, Visitor visit) {
  for (size_t at = 0; at < text.size();) {
    const StringRef rest = text.substr(at);
    const size_t length = rest[0] == '"' ? quotedLength(rest) : skippedLength(rest);
    if (length == 0 && !visit(at, rest[0]))
      return;
    at += std::max<size_t>(1, length);
  }
}

/// Whether a top-level construct begins at `at`.
bool beginsTopLevel(StringRef text, size_t at) {
  const bool isFirst = text.take_front(at).rtrim(" \t").ends_with("\n");
  return isFirst && llvm::any_of(llvm::ArrayRef<StringRef>{"nn.block ", "nn.model ", "train.program "},
                                 [&](StringRef op) { return text.substr(at).starts_with(op); });
}

} // namespace

TextPosition::TextPosition(StringRef text, size_t offset) : text_(text), at_(offset) {
  for (size_t length; (length = skippedLength(rest())) > 0; at_ += length)
    isAfterLine_ |= rest()[0] == '\n';
  isAfterLine_ &= offset > 0 && text[offset - 1] != '\n';
  token_ = tokenAt(rest());
}

std::string TextPosition::describe() const {
  if (isAtEnd())
    return "the end of the file";
  if (isAfterLine_)
    return "the end of the line";
  size_t end = 0;
  const std::optional<uint32_t> first = nextCharacter(std::string_view(token_), end);
  const std::string quoted = token_.starts_with("\"") ? token_.str() : ("'" + token_ + "'").str();
  return first && *first < 0x80 ? quoted
                                : quoted + " (U+" + llvm::utohexstr(first.value_or(0), false, 4) + ")";
}

StringRef TextPosition::lineBefore() const {
  const StringRef all = text_.take_front(at_);
  return all.substr(all.rfind('\n') + 1); // npos + 1 is 0
}

StringRef TextPosition::attachedNumber() const {
  const StringRef line = lineBefore();
  return line.drop_front(line.find_last_not_of("0123456789") + 1);
}

StringRef TextPosition::after() const {
  return rest()
      .drop_front(token_.size())
      .take_until([](char c) { return c == '\n'; })
      .split("//")
      .first.trim();
}

std::vector<StringRef> TextPosition::valuesBefore() const {
  StringRef all = text_.take_front(at_);
  if (const size_t block = std::max(all.rfind("nn.block") + 1, all.rfind("nn.model") + 1))
    all = all.drop_front(block - 1);
  std::vector<StringRef> names;
  forEachSign(all, [&](size_t at, char sign) {
    const StringRef name = all.substr(at + 1).take_while(isWordCharacter);
    if (sign == '%' && !name.empty() && !llvm::is_contained(names, name))
      names.push_back(name);
    return true;
  });
  return names;
}

std::optional<TextPosition::Unclosed> TextPosition::findUnclosed() const {
  std::vector<size_t> open;
  size_t expectedBefore = text_.size();
  const StringRef seen = text_.take_front(at_ + token_.size());
  forEachSign(seen, [&](size_t at, char sign) {
    if (!open.empty() && beginsTopLevel(text_, at)) {
      expectedBefore = at;
      return false;
    }
    if (sign == '{')
      open.push_back(at);
    if (sign == '}' && !open.empty())
      open.pop_back();
    return true;
  });
  if (open.empty() || (expectedBefore == text_.size() && !isAtEnd()))
    return std::nullopt;
  const StringRef before = text_.take_front(open.back());
  const StringRef line = text_.substr(before.rfind('\n') + 1).split('\n').first;
  return Unclosed{before.count('\n') + 1, line.trim(), expectedBefore};
}

bool TextPosition::isOutsideBraces() const {
  int depth = 0;
  forEachSign(text_.take_front(at_), [&](size_t, char sign) {
    depth += sign == '{' ? 1 : sign == '}' ? -1 : 0;
    return true;
  });
  return depth <= 0;
}

} // namespace trainc
