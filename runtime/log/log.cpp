#include "runtime/log/log.h"

#include "base/plain_text.h"
#include "base/print.h"

#include <array>
#include <sys/ioctl.h>
#include <unistd.h>

namespace trainc {

namespace {

constexpr std::array<std::pair<std::string_view, LogLevel>, 4> kLevels = {{{"error", LogLevel::kError},
                                                                           {"warning", LogLevel::kWarning},
                                                                           {"info", LogLevel::kInfo},
                                                                           {"debug", LogLevel::kDebug}}};

/// Carriage return, and "erase to the end of the line" (ECMA-48 EL).
constexpr std::string_view kClearLine = "\r\x1b[K";

size_t terminalWidth(std::FILE *stream) {
  winsize size{};
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// Prefixes each line of a text.
std::string withPrefix(std::string_view prefix, std::string text) {
  if (prefix.empty())
    return text;
  text.insert(0, prefix);
  for (size_t end = text.find('\n'); end != text.npos; end = text.find('\n', end + 1))
    text.insert(end + 1, prefix);
  return text;
}

} // namespace

Result<LogLevel> parseLogLevel(std::string_view name) {
  for (const auto &[known, level] : kLevels)
    if (known == name)
      return level;
  return invalidInput("--log-level={}: expected error, warning, info or debug", name);
}

Log::Log(std::FILE *stream, LogLevel level, std::string prefix)
    : stream_(stream), level_(level), prefix_(std::move(prefix)), terminal_(::isatty(::fileno(stream)) == 1) {
}

void Log::line(LogLevel level, std::string_view kind, std::string_view text) {
  if (!enabled(level))
    return;
  const std::string lines = withPrefix(prefix_, fmt::format("{}{}", kind, shownMessage(text)));
  // The terminal may show the progress line of another rank.
  const bool clears = !progress_.empty() || (terminal_ && !prefix_.empty());
  put(stream_, fmt::format("{}{}\n{}", clears ? kClearLine : "", lines, progress_));
}

void Log::progress(std::string_view text) {
  if (!isTerminal() || !enabled(LogLevel::kInfo))
    return;
  progress_ = printable(text).substr(0, terminalWidth(stream_) - 1);
  put(stream_, fmt::format("{}{}", kClearLine, progress_));
}

void Log::endProgress() {
  if (progress_.empty())
    return;
  progress_.clear();
  put(stream_, "\n");
}

} // namespace trainc
