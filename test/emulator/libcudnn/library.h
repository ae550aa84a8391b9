// The state of the emulated cuDNN, and what its entry points do first.
#pragma once

#include "test/emulator/calls/calls.h"
#include "test/emulator/calls/entry_name.h"
#include "test/emulator/calls/handles.h"
#include "test/emulator/libcudnn/descriptor.h"

#include <cstdio>
#include <cuda.h>
#include <fmt/format.h>
#include <mutex>

namespace trainc::emulator {

/// The vendor's entry points that the library has.
inline constexpr std::string_view kCudnnEntryPoints[] = {
    "cudnnGetVersion",
    "cudnnGetErrorString",
    "cudnnGetLastErrorString",
    "cudnnCreate",
    "cudnnDestroy",
    "cudnnSetStream",
    "cudnnBackendCreateDescriptor",
    "cudnnBackendDestroyDescriptor",
    "cudnnBackendSetAttribute",
    "cudnnBackendGetAttribute",
    "cudnnBackendFinalize",
    "cudnnBackendExecute",
};
using CudnnEntryName = NameIn<kCudnnEntryPoints>;

std::string_view nameOf(cudnnStatus_t status);

/// cudnnHandle_t
struct CudnnHandleState {
  CUstream stream = nullptr;
};

struct CudnnState {
  static CudnnState &get();

  std::mutex mutex;
  Calls calls;
  HandleTable<cudnnHandle_t, CudnnHandleState> handles{16, "handle"};
  HandleTable<cudnnBackendDescriptor_t, Descriptor> descriptors{17, "descriptor"};
  std::string lastError;

private:
  CudnnState();
};

/// One call of an entry point, with the library's lock. What is refused is said on stderr.
class CudnnCall {
public:
  explicit CudnnCall(std::string_view name) : library(CudnnState::get()), held(library.mutex), name_(name) {}

  CudnnState &library;
  std::unique_lock<std::mutex> held;

  template <typename Handle, typename Object>
  cudnnStatus_t need(const HandleTable<Handle, Object> &table, Handle handle,
                     std::shared_ptr<Object> &object) const {
    object = table.find(handle);
    return object ? CUDNN_STATUS_SUCCESS : refuse(CUDNN_STATUS_BAD_PARAM, "{}", table.whyNot(handle));
  }

  template <typename... Args>
  cudnnStatus_t refuse(cudnnStatus_t status, fmt::format_string<Args...> format, Args &&...args) const {
    library.lastError = fmt::format(format, std::forward<Args>(args)...);
    fmt::print(stderr, "emulated GPU: {}: {}: {}\n", name_, nameOf(status), library.lastError);
    return status;
  }
  cudnnStatus_t refuse(const Refusal &refusal) const { return refuse(refusal.status, "{}", refusal.text); }

private:
  std::string_view name_;
};

/// Runs `body` as an entry point.
template <typename Body> cudnnStatus_t cudnnEntry(CudnnEntryName name, Body body) {
  CudnnCall call(name.name);
  const std::optional<int> fault = call.library.calls.count(name.name);
  const cudnnStatus_t status = fault ? static_cast<cudnnStatus_t>(*fault) : body(call);
  call.library.calls.trace(name.name, nameOf(status));
  return status;
}

} // namespace trainc::emulator

/// Returns the error of `expression` from the current function, if it is one.
#define TRAINC_CUDNN(expression)                                                                             \
  do {                                                                                                       \
    if (const cudnnStatus_t status_ = (expression); status_ != CUDNN_STATUS_SUCCESS)                         \
      return status_;                                                                                        \
  } while (false)
