// Common prologue of entry points: count, trace, lock, and check preconditions.
#pragma once

#include "test/emulator/libcuda/driver.h"
#include "test/emulator/libcuda/entry_points.h"
#include "test/emulator/libcuda/results.h"

#include <cstdio>
#include <fmt/format.h>

namespace trainc::emulator {

/// The context that the thread has made current.
extern thread_local CUcontext currentContext;

/// One call of an entry point, under the driver's lock. Rejected calls are reported on stderr.
class Call {
public:
  explicit Call(std::string_view name) : driver(Driver::get()), held(driver.lock.mutex), name_(name) {}

  Driver &driver;
  std::unique_lock<std::mutex> held;
  ContextRef context; ///< the current context, once needed

  /// Returns an injected error, or an error that forbids any call.
  CUresult begin();
  /// Checks that this process has called cuInit.
  CUresult needInit() const;
  /// Checks that a usable context is current.
  CUresult needContext();
  /// Looks up an object of the current context.
  template <typename Handle, typename Object>
  CUresult need(const HandleTable<Handle, Object> &table, Handle handle, std::shared_ptr<Object> &object);
  /// Checks that the call disturbs no capture in progress; a disturbed capture is invalidated.
  CUresult needNoCapture() const;

  /// Enqueues work on a stream, or adds it to the stream's capture.
  CUresult append(Stream &stream, Work work) const;
  /// Waits for an operation, if any; fails if its context has failed by then.
  CUresult waitFor(const OperationRef &operation);

  /// Returns `error` after a line that explains it.
  template <typename... Args>
  CUresult refuse(CUresult error, fmt::format_string<Args...> format, Args &&...args) const {
    fmt::print(stderr, "emulated GPU: {}: {}: {}\n", name_, nameOf(error),
               fmt::format(format, std::forward<Args>(args)...));
    return error;
  }

private:
  CUresult needSameContext(const Context &other, std::string_view noun) const;

  std::string_view name_;
};

template <typename Handle, typename Object>
CUresult Call::need(const HandleTable<Handle, Object> &table, Handle handle,
                    std::shared_ptr<Object> &object) {
  if (const CUresult error = needContext())
    return error;
  object = table.find(handle);
  if (!object)
    return refuse(CUDA_ERROR_INVALID_HANDLE, "{}", table.whyNot(handle));
  return needSameContext(*object->context, table.noun());
}

/// Runs `body` as an entry point.
template <typename Body> CUresult entry(EntryName name, Body body) {
  Call call(name.name);
  CUresult result = call.begin();
  if (result == CUDA_SUCCESS)
    result = body(call);
  call.driver.calls.trace(name.name, nameOf(result));
  return result;
}

} // namespace trainc::emulator

/// Returns from the current function with the error of `expression`, if it is one.
#define TRAINC_CU(expression)                                                                                \
  do {                                                                                                       \
    if (const CUresult result_ = (expression); result_ != CUDA_SUCCESS)                                      \
      return result_;                                                                                        \
  } while (false)
