// Calls of an emulated library: counted, traced, and failing on request.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace trainc::emulator {

/// A library's description for TRAINC_EMULATOR_FAULT.
struct CallTable {
  std::string_view prefix; ///< of entry-point names, followed by a capital letter
  std::span<const std::string_view> entries;
  std::function<std::optional<int>(std::string_view)> codeOf; ///< error code by name
};

/// Calls of one library. Invalid environment variables end the process with a message. Thread-safe.
class Calls {
public:
  explicit Calls(CallTable table) : table_(std::move(table)) {}

  /// Reads the environment, and resets the counts.
  void reset();
  /// Counts a call; returns the error that it must return, if any.
  std::optional<int> count(std::string_view entry);
  /// Appends a line to the trace file, if there is one.
  void trace(std::string_view entry, std::string_view result);

private:
  void readFault(std::string_view text);

  CallTable table_;
  std::mutex mutex_;
  std::map<std::string, std::map<uint64_t, int>, std::less<>> faults_; ///< by entry and call number
  std::map<std::string, uint64_t, std::less<>> counts_;
  std::string traceFile_;
};

} // namespace trainc::emulator
