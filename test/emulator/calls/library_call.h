// Common prologue of entry points of libraries with a single lock and no context.
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

/// One call of an entry point, holding the library's lock. `State` is the library's state, with `get()`,
/// `mutex`, `calls`, and `nameOf()` of a `Status` whose value 0 means success; invalid handles give
/// `kWrongHandle`. Rejected calls are reported on stderr, and stored in the state if it has a `lastError`.
/// Declined requests are only stored: the caller asked whether they are supported.
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

/// Resets the counts if the library has no handle, before the call is counted: the environment may define a
/// fault for it.
template <typename State> void resetUnused(State &library) {
  const std::lock_guard held(library.mutex);
  if (library.handles.empty())
    library.calls.reset();
}

} // namespace trainc::emulator
