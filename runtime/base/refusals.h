// All that is refused, so that a user hears of it at once.
#pragma once

#include "runtime/base/status.h"

#include <fmt/ranges.h>
#include <vector>

namespace trainc {

/// Collects refusals (kInvalidInput) of things that are looked at one after the other.
class Refusals {
public:
  /// Keeps a refusal, and returns ok for it; returns any other status as it is.
  Status keep(Status status) {
    if (status.code() != StatusCode::kInvalidInput)
      return status;
    messages_.push_back(status.message());
    return {};
  }

  /// Ok if nothing was refused; else kInvalidInput with the messages, each on a line of its own.
  Status all() const { return messages_.empty() ? Status() : invalidInput("{}", fmt::join(messages_, "\n")); }

private:
  std::vector<std::string> messages_;
};

} // namespace trainc
