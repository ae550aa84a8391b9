#include "tools/trainc-lsp/relay.h"

#include <cstdlib>
#include <optional>
#include <string_view>

namespace trainc {

namespace {

/// A line including its end; nothing at the end of `file`.
std::optional<std::string> readLine(std::FILE *file) {
  std::string line;
  for (int byte; (byte = std::getc(file)) != EOF;) {
    line += static_cast<char>(byte);
    if (byte == '\n')
      return line;
  }
  return line.empty() ? std::nullopt : std::optional(line);
}

/// The N of "Content-Length: N". Nothing if N exceeds any text, so that a wrong header cannot exhaust memory.
std::optional<size_t> contentLength(const std::string &line) {
  constexpr std::string_view kField = "Content-Length: ";
  constexpr size_t kMaxLength = size_t{1} << 30;
  if (!line.starts_with(kField))
    return std::nullopt;
  const unsigned long long length = std::strtoull(line.c_str() + kField.size(), nullptr, 10);
  return length > 0 && length <= kMaxLength ? std::optional<size_t>(length) : std::nullopt;
}

bool isEmpty(const std::string &line) { return line == "\r\n" || line == "\n"; }

std::string withHeader(size_t length, const std::string &content) {
  return "Content-Length: " + std::to_string(length) + "\r\n\r\n" + content;
}

/// Returns false if the reader of `to` has closed it.
bool writeAtOnce(std::FILE *to, const std::string &out) {
  return std::fwrite(out.data(), 1, out.size(), to) == out.size() && std::fflush(to) == 0;
}

} // namespace

void relay(std::FILE *from, std::FILE *to, const ChangeMessage &change) {
  std::optional<size_t> length;
  while (std::optional<std::string> line = readLine(from)) {
    std::string out = std::move(*line);
    if (length && isEmpty(out)) {
      std::string body(*length, '\0');
      body.resize(std::fread(body.data(), 1, body.size(), from));
      if (body.size() == *length) {
        const std::optional<std::string> changed = change(std::move(body));
        out = changed ? withHeader(changed->size(), *changed) : "";
      } else {
        out = withHeader(*length, body);
      }
      length.reset();
    } else if (const std::optional<size_t> found = contentLength(out)) {
      length = found;
      continue;
    } else if (length) {
      continue; // another header field, such as the content type
    }
    if (!writeAtOnce(to, out))
      return;
  }
}

void writeMessage(std::FILE *to, const std::string &content) {
  writeAtOnce(to, withHeader(content.size(), content));
}

} // namespace trainc
