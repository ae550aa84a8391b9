// State of the emulated cuDNN, and the common prologue of its entry points.
#pragma once

#include "test/emulator/calls/calls.h"
#include "test/emulator/calls/entry_name.h"
#include "test/emulator/calls/handles.h"
#include "test/emulator/calls/library_call.h"
#include "test/emulator/libcudnn/descriptor.h"

#include <cuda.h>
#include <mutex>

namespace trainc::emulator {

/// Entry points that the library has.
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

/// cudnnHandle_t
struct CudnnHandleState {
  CUstream stream = nullptr;
};

struct CudnnState {
  static CudnnState &get();
  static std::string_view nameOf(cudnnStatus_t status);

  std::mutex mutex;
  Calls calls;
  HandleTable<cudnnHandle_t, CudnnHandleState> handles{16, "handle"};
  HandleTable<cudnnBackendDescriptor_t, Descriptor> descriptors{17, "descriptor"};
  std::string lastError;

private:
  CudnnState();
};

/// One call of an entry point.
class CudnnCall : public LibraryCall<CudnnState, cudnnStatus_t, CUDNN_STATUS_BAD_PARAM> {
public:
  using LibraryCall::LibraryCall;
  using LibraryCall::refuse;
  cudnnStatus_t refuse(const Refusal &refusal) const { return refuse(refusal.status, "{}", refusal.text); }
};

/// Version that the library reports.
size_t emulatedVersion();

template <typename Body> cudnnStatus_t cudnnEntry(CudnnEntryName name, Body body) {
  return runEntry<CudnnCall>(name.name, body);
}

} // namespace trainc::emulator

/// Returns from the current function with the error of `expression`, if it is one.
#define TRAINC_CUDNN(expression)                                                                             \
  do {                                                                                                       \
    if (const cudnnStatus_t status_ = (expression); status_ != CUDNN_STATUS_SUCCESS)                         \
      return status_;                                                                                        \
  } while (false)
