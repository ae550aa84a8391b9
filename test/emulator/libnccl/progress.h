// Work in small steps, so that the device can serve other streams meanwhile.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace trainc::emulator {

/// A rank's execution of a group of operations: a coroutine that suspends while it waits for others. Its
/// result is an error text if the device fails.
class Progress {
public:
  struct promise_type {
    std::optional<std::string> failure;

    Progress get_return_object() { return Progress(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_value(std::optional<std::string> text) { failure = std::move(text); }
    void unhandled_exception() { std::terminate(); }
  };

  Progress(Progress &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  Progress &operator=(Progress &&) = delete;
  ~Progress() {
    if (handle_)
      handle_.destroy();
  }

  /// Resumes until the next suspension; returns whether it has ended.
  bool advance() {
    handle_.resume();
    return handle_.done();
  }
  const std::optional<std::string> &failure() const { return handle_.promise().failure; }

private:
  using Handle = std::coroutine_handle<promise_type>;
  explicit Progress(Handle handle) : handle_(handle) {}

  Handle handle_;
};

inline constexpr std::suspend_always kPause{};

} // namespace trainc::emulator
