// State of the emulated cuBLASLt, and the common prologue of its entry points.
#pragma once

#include "test/emulator/calls/calls.h"
#include "test/emulator/calls/entry_name.h"
#include "test/emulator/calls/handles.h"
#include "test/emulator/calls/library_call.h"
#include "test/emulator/libcublaslt/descriptors.h"

#include <mutex>

namespace trainc::emulator {

/// Entry points that the library has.
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

/// cublasLtHandle_t
struct Handle {
  bool hasKernels = false; ///< whether kernels are on the device; the first product loads them
};

struct Library {
  static Library &get();
  static std::string_view nameOf(cublasStatus_t status);

  std::mutex mutex;
  Calls calls;
  HandleTable<cublasLtHandle_t, Handle> handles{8, "handle"};
  HandleTable<cublasLtMatmulDesc_t, Operation> operations{9, "operation descriptor"};
  HandleTable<cublasLtMatrixLayout_t, Layout> layouts{10, "matrix layout"};
  HandleTable<cublasLtMatmulPreference_t, Preference> preferences{11, "preference"};

private:
  Library();
};

/// One call of an entry point.
using Call = LibraryCall<Library, cublasStatus_t, CUBLAS_STATUS_INVALID_VALUE>;

template <typename Body> cublasStatus_t entry(EntryName name, Body body) {
  return runEntry<Call>(name.name, body);
}

} // namespace trainc::emulator

/// Returns from the current function with the error of `expression`, if it is one.
#define TRAINC_CUBLAS(expression)                                                                            \
  do {                                                                                                       \
    if (const cublasStatus_t status_ = (expression); status_ != CUBLAS_STATUS_SUCCESS)                       \
      return status_;                                                                                        \
  } while (false)
