#include "tools/trainc-lsp/cursor.h"

#include "tools/language/text_position.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <array>

using llvm::StringRef;

namespace trainc {

namespace {

size_t offsetOfLine(StringRef text, int line) {
  size_t offset = 0;
  for (; line > 0 && offset != StringRef::npos; --line)
    offset = text.find('\n', offset) == StringRef::npos ? text.size() : text.find('\n', offset) + 1;
  return std::min(offset, text.size());
}

bool isOfWord(char c) { return isWordCharacter(c) || c == '%' || c == '@'; }

/// Returns the construct that the position `offset` is inside of.
Enclosing enclosingOf(StringRef text, size_t offset) {
  Enclosing found = Enclosing::File;
  int depth = 0;
  for (StringRef rest = text.take_front(offset), line; !rest.empty();) {
    std::tie(line, rest) = rest.split('\n');
    line = line.split("//").first;
    if (line.ltrim().starts_with("train.program"))
      found = Enclosing::Program;
    if (line.ltrim().starts_with("nn.model") || line.ltrim().starts_with("nn.block"))
      found = Enclosing::Body;
    depth += int(line.count('{')) - int(line.count('}'));
  }
  return depth > 0 ? found : Enclosing::File;
}

} // namespace

Cursor::Cursor(const TextPlace &place)
    : text(place.text), lineOffset(offsetOfLine(text, place.position.line)) {
  line = text.substr(lineOffset).split('\n').first.split("//").first;
  column = std::min(size_t(std::max(0, place.position.character)), line.size());
  begin = column;
  while (begin > 0 && isOfWord(line[begin - 1]))
    --begin;
  size_t end = column;
  while (end < line.size() && isWordCharacter(line[end]))
    ++end;
  word = line.slice(begin, end);
  enclosing = enclosingOf(text, lineOffset + begin);
}

StringRef Cursor::opName() const {
  StringRef rest = line.trim();
  if (rest.starts_with("%"))
    rest = rest.split('=').second.trim();
  const StringRef name = rest.take_while(isWordCharacter);
  return name.contains('.') ? name : StringRef();
}

std::optional<std::string> headingOf(StringRef text, StringRef keyword, StringRef name) {
  const std::string begin = (keyword + " @" + name).str();
  for (StringRef line; !text.empty();) {
    std::tie(line, text) = text.split('\n');
    StringRef heading = line.ltrim();
    if (!heading.starts_with(begin) ||
        (heading.size() > begin.size() && isWordCharacter(heading[begin.size()])))
      continue;
    std::string whole = heading.str(); // arguments may go on on further lines
    while (whole.find('{') == std::string::npos && !text.empty()) {
      std::tie(line, text) = text.split('\n');
      whole += "\n" + line.str();
    }
    return StringRef(whole).split('{').first.trim().str();
  }
  return std::nullopt;
}

std::vector<std::string> namesOf(StringRef text, StringRef keyword) {
  std::vector<std::string> names;
  for (StringRef line; !text.empty();) {
    std::tie(line, text) = text.split('\n');
    StringRef heading = line.ltrim();
    if (heading.consume_front(keyword) && heading.consume_front(" @"))
      names.push_back(heading.take_while(isWordCharacter).str());
  }
  return names;
}

std::vector<std::string> constantsOf(StringRef text) {
  std::vector<std::string> names;
  for (StringRef line; !text.empty();) {
    std::tie(line, text) = text.split('\n');
    if (line = line.ltrim(); line.consume_front("let "))
      names.push_back(line.ltrim().take_while(isWordCharacter).str());
  }
  return names;
}

std::optional<StringRef> constantLine(StringRef text, StringRef name) {
  for (StringRef line; !text.empty();) {
    std::tie(line, text) = text.split('\n');
    const StringRef definition = line.split("//").first.trim();
    if (definition.starts_with("let ") &&
        definition.drop_front(4).ltrim().take_while(isWordCharacter) == name)
      return definition;
  }
  return std::nullopt;
}

} // namespace trainc
