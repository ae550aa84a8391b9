// Error handling of the runtime: a Status says what was expected, what was found and what to do. Nothing
// throws.
#pragma once

#include "base/exit_codes.h"

#include <cassert>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>

namespace trainc {

/// Category of an error; tools map it to their exit code.
enum class StatusCode {
  kOk,
  kInvalidInput, ///< bad usage, file or data: kExitUsage
  kFailed,       ///< the run failed (I/O, memory, non-finite loss): kExitFailed
};

/// Success, or an error with a message for the user.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string &message() const { return message_; }
  /// Exit code of a program that stops with this status.
  int exitCode() const {
    return ok() ? kExitDone : code_ == StatusCode::kInvalidInput ? kExitUsage : kExitFailed;
  }

private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

/// Returns a usage, file or data error (exit code 2), formatted with fmt.
template <typename... Args> Status invalidInput(fmt::format_string<Args...> format, Args &&...args) {
  return {StatusCode::kInvalidInput, fmt::format(format, std::forward<Args>(args)...)};
}

/// Returns a failure of the run (exit code 1), formatted with fmt.
template <typename... Args> Status failed(fmt::format_string<Args...> format, Args &&...args) {
  return {StatusCode::kFailed, fmt::format(format, std::forward<Args>(args)...)};
}

/// A value, or the Status that explains its absence.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) { assert(!status_.ok()); }

  bool ok() const { return value_.has_value(); }
  const Status &status() const { return status_; }
  T &operator*() { return *value_; }
  const T &operator*() const { return *value_; }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }

private:
  std::optional<T> value_;
  Status status_;
};

} // namespace trainc

/// Returns from the current function with the status of `expression` if it is an error.
#define TRAINC_RETURN_IF_ERROR(expression)                                                                   \
  do {                                                                                                       \
    if (auto status_ = (expression); !status_.ok())                                                          \
      return status_;                                                                                        \
  } while (false)

// NOLINTBEGIN(bugprone-macro-parentheses): `lhs` may be a declaration, `result` is a name.
#define TRAINC_CONCAT_INNER(a, b) a##b
#define TRAINC_CONCAT(a, b) TRAINC_CONCAT_INNER(a, b)
#define TRAINC_ASSIGN_OR_RETURN_INNER(result, lhs, expression)                                               \
  auto result = (expression);                                                                                \
  if (!result.ok())                                                                                          \
    return result.status();                                                                                  \
  lhs = std::move(*result)
// NOLINTEND(bugprone-macro-parentheses)

/// Assigns the value of a Result to `lhs`, or returns from the current function with its status.
#define TRAINC_ASSIGN_OR_RETURN(lhs, expression)                                                             \
  TRAINC_ASSIGN_OR_RETURN_INNER(TRAINC_CONCAT(result_, __LINE__), lhs, expression)
