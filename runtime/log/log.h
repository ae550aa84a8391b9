// Messages and progress line of a run.
#pragma once

#include "base/status.h"

#include <cstdio>
#include <string>
#include <string_view>

namespace trainc {

enum class LogLevel { kError, kWarning, kInfo, kDebug };

/// Reads "error", "warning", "info" or "debug".
Result<LogLevel> parseLogLevel(std::string_view name);

/// Writes whole lines to a stream, flushed at once. On a terminal the progress line stays below them and is
/// redrawn in place. Not thread-safe.
class Log {
public:
  /// `stream` outlives the log; whether it is a terminal is detected. `prefix` begins every line; a log with
  /// a prefix shares the stream with others and never redraws.
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

  /// Writes a result that the user asked for, at any level. Logs with a prefix, which belong to other ranks
  /// than 0, write it at level info and above.
  template <typename... Args> void answer(fmt::format_string<Args...> format, Args &&...args) {
    line(prefix_.empty() ? LogLevel::kError : LogLevel::kInfo, "",
         fmt::format(format, std::forward<Args>(args)...));
  }

  /// Redraws the progress line (terminals, level info and above), truncated to the terminal's width.
  void progress(std::string_view text);
  /// Ends the progress line, so that later output begins below it.
  void endProgress();

private:
  void line(LogLevel level, std::string_view kind, std::string_view text);

  std::FILE *stream_;
  LogLevel level_;
  std::string prefix_;
  bool terminal_;
  std::string progress_; ///< text on screen; empty if none
};

} // namespace trainc
