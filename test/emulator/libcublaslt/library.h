// The state of the emulated cuBLASLt, and what its entry points do first.
#pragma once

#include "test/emulator/calls/calls.h"
#include "test/emulator/calls/entry_name.h"
#include "test/emulator/calls/handles.h"
#include "test/emulator/libcublaslt/descriptors.h"

#include <cstdio>
#include <fmt/format.h>
#include <mutex>

namespace trainc::emulator {

/// The vendor's entry points that the library has.
inline constexpr std::string_view kEntryPoints[] = {
    "cublasLtCreate",
    "cublasLtDestroy",
    "cublasLtGetVersion",
    "cublasLtGetStatusString",
    "cublasLtMatmulDescCreate",
    "cublasLtMatmulDescDestroy",
    "cublasLtMatmulDescSetAttribute",
    "cublasLtMatrixLayoutCreate",
    "cublasLtMatrixLayoutDestroy",
    "cublasLtMatrixLayoutSetAttribute",
    "cublasLtMatmulPreferenceCreate",
    "cublasLtMatmulPreferenceDestroy",
    "cublasLtMatmulPreferenceSetAttribute",
    "cublasLtMatmulAlgoGetHeuristic",
    "cublasLtMatmul",
};
using EntryName = NameIn<kEntryPoints>;

std::string_view nameOf(cublasStatus_t status);

/// cublasLtHandle_t has nothing of its own.
struct Handle {};

struct Library {
  static Library &get();

  std::mutex mutex;
  Calls calls;
  HandleTable<cublasLtHandle_t, Handle> handles{8, "handle"};
  HandleTable<cublasLtMatmulDesc_t, Operation> operations{9, "operation descriptor"};
  HandleTable<cublasLtMatrixLayout_t, Layout> layouts{10, "matrix layout"};
  HandleTable<cublasLtMatmulPreference_t, Preference> preferences{11, "preference"};

private:
  Library();
};

/// One call of an entry point, with the library's lock. What is refused is said on stderr.
class Call {
public:
  explicit Call(std::string_view name) : library(Library::get()), held(library.mutex), name_(name) {}

  Library &library;
  std::unique_lock<std::mutex> held;

  template <typename Handle, typename Object>
  cublasStatus_t need(const HandleTable<Handle, Object> &table, Handle handle,
                      std::shared_ptr<Object> &object) const {
    object = table.find(handle);
    return object ? CUBLAS_STATUS_SUCCESS : refuse(CUBLAS_STATUS_INVALID_VALUE, "{}", table.whyNot(handle));
  }

  template <typename... Args>
  cublasStatus_t refuse(cublasStatus_t status, fmt::format_string<Args...> format, Args &&...args) const {
    fmt::print(stderr, "emulated GPU: {}: {}: {}\n", name_, nameOf(status),
               fmt::format(format, std::forward<Args>(args)...));
    return status;
  }

private:
  std::string_view name_;
};

/// Runs `body` as an entry point.
template <typename Body> cublasStatus_t entry(EntryName name, Body body) {
  Call call(name.name);
  const std::optional<int> fault = call.library.calls.count(name.name);
  const cublasStatus_t status = fault ? static_cast<cublasStatus_t>(*fault) : body(call);
  call.library.calls.trace(name.name, nameOf(status));
  return status;
}

} // namespace trainc::emulator

/// Returns the error of `expression` from the current function, if it is one.
#define TRAINC_CUBLAS(expression)                                                                            \
  do {                                                                                                       \
    if (const cublasStatus_t status_ = (expression); status_ != CUBLAS_STATUS_SUCCESS)                       \
      return status_;                                                                                        \
  } while (false)
