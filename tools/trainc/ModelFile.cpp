#include "tools/trainc/ModelFile.h"

#include "tools/trainc/Paths.h"

#include "llvm/ADT/StringExtras.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace trainc {

namespace {

constexpr size_t kMaxBytes = size_t{256} << 20;
constexpr int kMaxDepth = 500;

Status tooLarge(const std::string &name) {
  return invalidInput("{}: expected a model of at most {} MiB", name, kMaxBytes >> 20);
}

Result<std::string> readAll(std::FILE *file, const std::string &name) {
  std::string text, chunk(size_t{64} << 10, '\0');
  while (const size_t count = std::fread(chunk.data(), 1, chunk.size(), file)) {
    text.append(chunk, 0, count);
    if (text.size() > kMaxBytes)
      return tooLarge(name);
  }
  if (std::ferror(file))
    return invalidInput("{}: cannot read: {}", name, std::strerror(errno));
  return text;
}

/// Skips a string or a comment that begins at `at`; the position behind it, or `at` where none begins.
size_t skipText(llvm::StringRef text, size_t at) {
  if (text.substr(at).starts_with("//"))
    return std::min(text.find('\n', at), text.size());
  if (text[at] != '"')
    return at;
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    if (text[at] == '\\')
      ++at;
  return at < text.size() && text[at] == '"' ? at + 1 : std::min(at, text.size());
}

/// Counts brackets of all kinds. What is not balanced is the parser's to report.
class Depth {
public:
  int total() const { return round_ + square_ + curly_ + angle_; }

  void see(char c) {
    switch (c) {
    case '(':
    case ')':
      return step(round_, c == '(');
    case '[':
    case ']':
      return step(square_, c == '[');
    case '{':
    case '}':
      return step(curly_, c == '{');
    case '<':
    case '>':
      return step(angle_, c == '<');
    default:
      return;
    }
  }

private:
  static void step(int &count, bool opens) { count = opens ? count + 1 : std::max(0, count - 1); }

  int round_ = 0, square_ = 0, curly_ = 0, angle_ = 0;
};

} // namespace

Result<std::unique_ptr<llvm::MemoryBuffer>> readModel(const std::string &path) {
  const bool isInput = path == "-";
  if (Status status = isInput ? Status() : requireRegularFile(path); !status.ok())
    return invalidInput("{}; - reads standard input", status.message());
  std::FILE *file = isInput ? stdin : std::fopen(path.c_str(), "rb");
  if (!file)
    return invalidInput("cannot open input file '{}': {}", path, std::strerror(errno));
  Result<std::string> text = readAll(file, isInput ? "standard input" : path);
  if (!isInput)
    std::fclose(file);
  if (!text.ok())
    return text.status();
  return llvm::MemoryBuffer::getMemBufferCopy(*text, isInput ? "<stdin>" : path);
}

Status checkNesting(llvm::MemoryBufferRef buffer) {
  const llvm::StringRef text = buffer.getBuffer();
  Depth depth;
  size_t line = 1, lineStart = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (const size_t behind = skipText(text, at); behind != at) {
      at = behind - 1;
      continue;
    }
    if (text[at] == '\n') {
      ++line;
      lineStart = at + 1;
    }
    const bool isArrow = text[at] == '>' && at > 0 && text[at - 1] == '-';
    if (!isArrow)
      depth.see(text[at]);
    if (depth.total() > kMaxDepth)
      return invalidInput("{}:{}:{}: brackets are nested more than {} deep; expected a model",
                          buffer.getBufferIdentifier().str(), line, at - lineStart + 1, kMaxDepth);
  }
  return {};
}

} // namespace trainc
