// Collects several input errors into one report.
#pragma once

#include "base/status.h"

#include <fmt/ranges.h>
#include <vector>

namespace trainc {

/// Collects errors (kInvalidInput) of items that are checked one after the other.
class Refusals {
public:
  /// Stores a kInvalidInput status and returns ok; returns any other status unchanged.
  Status keep(Status status) {
    if (status.code() != StatusCode::kInvalidInput)
      return status;
    messages_.push_back(status.message());
    return {};
  }

  /// Ok if no error was stored; else kInvalidInput with one message per line.
  Status all() const { return messages_.empty() ? Status() : invalidInput("{}", fmt::join(messages_, "\n")); }

private:
  std::vector<std::string> messages_;
};

} // namespace trainc
