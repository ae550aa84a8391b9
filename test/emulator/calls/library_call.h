// What entry points of emulated libraries that have one lock and no context of their own do first.
#pragma once

#include "test/emulator/calls/calls.h"
#include "test/emulator/calls/handles.h"

#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace trainc::emulator {

/// One call of an entry point, with the library's lock. `State` is the library's, with `get()`, `mutex`,
/// `calls` and the `nameOf()` of a `Status`, of which 0 is the good one and `kWrongHandle` what wrong handles
/// get. What is refused is said on stderr, and noted in the state if that has a `lastError`. What is declined
/// is only noted: the caller asked whether it is there.
template <typename State, typename Status, Status kWrongHandle> class LibraryCall {
public:
  explicit LibraryCall(std::string_view name) : library(State::get()), held(library.mutex), name_(name) {}

  State &library;
  std::unique_lock<std::mutex> held;

  template <typename Handle, typename Object>
  Status need(const HandleTable<Handle, Object> &table, Handle handle,
              std::shared_ptr<Object> &object) const {
    object = table.find(handle);
    return object ? Status{} : refuse(kWrongHandle, "{}", table.whyNot(handle));
  }

  template <typename... Args>
  Status refuse(Status status, fmt::format_string<Args...> format, Args &&...args) const {
    const std::string text = fmt::format(format, std::forward<Args>(args)...);
    fmt::print(stderr, "emulated GPU: {}: {}: {}\n", name_, State::nameOf(status), text);
    return note(status, text);
  }
  template <typename... Args>
  Status decline(Status status, fmt::format_string<Args...> format, Args &&...args) const {
    return note(status, fmt::format(format, std::forward<Args>(args)...));
  }

private:
  Status note(Status status, const std::string &text) const {
    if constexpr (requires { library.lastError = text; })
      library.lastError = text;
    return status;
  }

  std::string_view name_;
};

/// Runs `body` as an entry point.
template <typename LibraryCall, typename Body> auto runEntry(std::string_view name, Body body) {
  LibraryCall call(name);
  const std::optional<int> fault = call.library.calls.count(name);
  const auto status = fault ? static_cast<decltype(body(call))>(*fault) : body(call);
  call.library.calls.trace(name, call.library.nameOf(status));
  return status;
}

/// Counts anew where a library is created while it has no handle: before the call is counted, as the
/// environment may have a fault for it.
template <typename State> void resetUnused(State &library) {
  const std::lock_guard held(library.mutex);
  if (library.handles.empty())
    library.calls.reset();
}

} // namespace trainc::emulator
