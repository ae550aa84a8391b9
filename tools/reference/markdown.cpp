#include "tools/reference/markdown.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainc {

std::string code(std::string_view text) {
  std::string escaped;
  for (const char c : text)
    escaped.append(c == '|' ? "\\|" : std::string(1, c));
  return "`" + escaped + "`";
}

/// The option at the beginning of `text`, with its value; empty if there is none.
static std::string_view optionAt(std::string_view text) {
  if (!text.starts_with("--") || text.size() < 3 || !std::islower(static_cast<unsigned char>(text[2])))
    return {};
  std::string_view option = text.substr(0, text.find_first_of(" \n;,:)"));
  if (option.ends_with('.'))
    option.remove_suffix(1);
  return option;
}

/// The text in single quotes or backticks at the beginning of `text`, with these; empty if there is none.
static std::string_view quotedAt(std::string_view text) {
  const bool isQuoted = text.starts_with('\'') || text.starts_with('`');
  const size_t end = isQuoted ? text.find(text.front(), 1) : std::string_view::npos;
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

std::string prose(std::string_view text) {
  std::string out;
  for (bool isBeginning = true; !text.empty();) { // of a word
    const std::string_view option = isBeginning ? optionAt(text) : "";
    const std::string_view quoted = isBeginning ? quotedAt(text) : "";
    size_t length = 1;
    if (!option.empty()) {
      out += code(option);
      length = option.size();
    } else if (!quoted.empty()) {
      out += code(quoted.substr(1, quoted.size() - 2));
      length = quoted.size();
    } else if (text.front() == '<') {
      out += "&lt;";
    } else if (text.front() == '|' || text.front() == '*') {
      out.append("\\").append(1, text.front());
    } else {
      out += text.front() == '\n' ? ' ' : text.front();
    }
    isBeginning = std::string_view(" \n(").find(text.front()) != std::string_view::npos;
    text.remove_prefix(length);
  }
  return out;
}

std::pair<std::string_view, std::string_view> splitDefault(std::string_view text) {
  constexpr std::string_view kDefault = "default: ";
  const size_t begin = text.rfind(kDefault);
  if (begin == std::string_view::npos)
    return {text, ""};
  const std::string_view meaning = text.substr(0, begin);
  return {meaning.substr(0, meaning.find_last_not_of("; \n") + 1), text.substr(begin + kDefault.size())};
}

std::string table(std::string_view header, const std::vector<std::vector<std::string>> &rows) {
  std::string text = "| ";
  for (const char c : header)
    text += c == '|' ? " | " : std::string(1, c);
  text += " |\n";
  for (auto columns = std::ranges::count(header, '|') + 1; columns > 0; --columns)
    text += "|---";
  text += "|\n";
  for (const std::vector<std::string> &row : rows)
    text += fmt::format("| {} |\n", fmt::join(row, " | "));
  return text;
}

} // namespace trainc
