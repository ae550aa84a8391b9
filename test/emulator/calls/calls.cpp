#include "test/emulator/calls/calls.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace trainc::emulator {

namespace {

std::string_view variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

[[noreturn]] void refuseFault(std::string_view text, std::string_view why) {
  fmt::print(stderr,
             "emulated GPU: TRAINC_EMULATOR_FAULT: '{}': {}; expected ENTRY:CALL=ERROR, e.g. "
             "cuMemAlloc:3=CUDA_ERROR_OUT_OF_MEMORY\n",
             text, why);
  std::_Exit(2);
}

/// Whether `entry` is `prefix` followed by a capital letter.
bool beginsWith(std::string_view entry, std::string_view prefix) {
  return entry.starts_with(prefix) && entry.size() > prefix.size() && entry[prefix.size()] >= 'A' &&
         entry[prefix.size()] <= 'Z';
}

constexpr std::array<std::string_view, 4> kPrefixes{"cu", "cublasLt", "cudnn", "nccl"};

} // namespace

void Calls::reset() {
  const std::lock_guard lock(mutex_);
  faults_.clear();
  counts_.clear();
  traceFile_ = variable("TRAINC_EMULATOR_TRACE");
  for (std::string_view rest = variable("TRAINC_EMULATOR_FAULT"); !rest.empty();) {
    const size_t end = std::min(rest.find(','), rest.size());
    readFault(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

void Calls::readFault(std::string_view text) {
  const size_t colon = text.find(':'), equals = text.find('=');
  if (colon == std::string_view::npos || equals == std::string_view::npos || equals < colon)
    refuseFault(text, "no such form");
  const std::string_view entry = text.substr(0, colon), call = text.substr(colon + 1, equals - colon - 1);
  const std::string_view error = text.substr(equals + 1);
  if (std::ranges::none_of(kPrefixes, [&](std::string_view prefix) { return beginsWith(entry, prefix); }))
    refuseFault(text, fmt::format("no library has an entry point '{}'", entry));
  if (!beginsWith(entry, table_.prefix)) // belongs to another library
    return;
  if (std::ranges::find(table_.entries, entry) == table_.entries.end())
    refuseFault(text, fmt::format("no entry point '{}' is emulated", entry));
  uint64_t number = 0;
  const auto [end, problem] = std::from_chars(call.data(), call.data() + call.size(), number);
  if (problem != std::errc() || end != call.data() + call.size() || number == 0)
    refuseFault(text, fmt::format("'{}' is not a number of a call, which begin at 1", call));
  const std::optional<int> code = table_.codeOf(error);
  if (!code)
    refuseFault(text, fmt::format("'{}' is not an error of the library", error));
  faults_[std::string(entry)][number] = *code;
}

std::optional<int> Calls::count(std::string_view entry) {
  const std::lock_guard lock(mutex_);
  auto counted = counts_.find(entry);
  if (counted == counts_.end())
    counted = counts_.emplace(entry, 0).first;
  ++counted->second;
  const auto faults = faults_.find(entry);
  if (faults == faults_.end())
    return std::nullopt;
  const auto fault = faults->second.find(counted->second);
  return fault == faults->second.end() ? std::nullopt : std::optional(fault->second);
}

void Calls::trace(std::string_view entry, std::string_view result) {
  const std::lock_guard lock(mutex_);
  if (traceFile_.empty())
    return;
  // One write() per line at the end of the file, because other libraries and processes write there too.
  const std::string line = fmt::format("{} {}\n", entry, result);
  const int file = open(traceFile_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0 || write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    fmt::print(stderr, "emulated GPU: TRAINC_EMULATOR_TRACE: cannot write to '{}'\n", traceFile_);
    std::_Exit(2);
  }
  close(file);
}

} // namespace trainc::emulator
