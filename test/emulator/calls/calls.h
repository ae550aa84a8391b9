// Calls of an emulated library's entry points: counted, traced, and made to fail on request.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace trainc::emulator {

/// A library, as TRAINC_EMULATOR_FAULT speaks of it.
struct CallTable {
  std::string_view prefix; ///< of its entry points' names, before a capital letter
  std::span<const std::string_view> entries;
  std::function<std::optional<int>(std::string_view)> codeOf; ///< of an error's name
};

/// The calls of one library. What is wrong in the environment ends the process with a message. For any
/// thread.
class Calls {
public:
  explicit Calls(CallTable table) : table_(std::move(table)) {}

  /// Reads the environment, and counts anew.
  void reset();
  /// Counts a call; the error that it is to return, if any.
  std::optional<int> count(std::string_view entry);
  /// Writes a line to the trace, if there is one.
  void trace(std::string_view entry, std::string_view result);

private:
  void readFault(std::string_view text);

  CallTable table_;
  std::mutex mutex_;
  std::map<std::string, std::map<uint64_t, int>, std::less<>> faults_; ///< by entry and call
  std::map<std::string, uint64_t, std::less<>> counts_;
  std::string traceFile_;
};

} // namespace trainc::emulator
