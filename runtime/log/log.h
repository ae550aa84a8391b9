// Messages and the progress line of a run, on one stream.
#pragma once

#include "runtime/base/status.h"

#include <cstdio>
#include <string>
#include <string_view>

namespace trainc {

enum class LogLevel { kError, kWarning, kInfo, kDebug };

/// Reads "error", "warning", "info" or "debug".
Result<LogLevel> parseLogLevel(std::string_view name);

/// Writes whole lines to a stream, flushed at once. On a terminal a progress line stays below them and is
/// redrawn in place. One thread uses a log.
class Log {
public:
  /// `stream` outlives the log; whether it is a terminal is looked up. `prefix` begins every line; who has
  /// one is beside others on the stream and redraws nothing there.
  Log(std::FILE *stream, LogLevel level, std::string prefix = "");
  Log(const Log &) = delete;
  Log &operator=(const Log &) = delete;
  ~Log() { endProgress(); }

  bool enabled(LogLevel level) const { return level <= level_; }
  /// Whether a line can be redrawn in place.
  bool isTerminal() const { return terminal_ && prefix_.empty(); }

  template <typename... Args> void error(fmt::format_string<Args...> format, Args &&...args) {
    line(LogLevel::kError, "error: ", fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args> void warning(fmt::format_string<Args...> format, Args &&...args) {
    line(LogLevel::kWarning, "warning: ", fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args> void info(fmt::format_string<Args...> format, Args &&...args) {
    line(LogLevel::kInfo, "", fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args> void debug(fmt::format_string<Args...> format, Args &&...args) {
    line(LogLevel::kDebug, "debug: ", fmt::format(format, std::forward<Args>(args)...));
  }

  /// Redraws the progress line (terminals, level info and above); it is cut at the terminal's width.
  void progress(std::string_view text);
  /// Leaves the progress line where it is and goes on below it.
  void endProgress();

private:
  void line(LogLevel level, std::string_view kind, std::string_view text);

  std::FILE *stream_;
  LogLevel level_;
  std::string prefix_;
  bool terminal_;
  std::string progress_; ///< on screen now; empty when none is
};

} // namespace trainc
