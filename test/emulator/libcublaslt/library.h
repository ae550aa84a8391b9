// The state of the emulated cuBLASLt, and what its entry points do first.
#pragma once

#include "test/emulator/calls/calls.h"
#include "test/emulator/calls/entry_name.h"
#include "test/emulator/calls/handles.h"
#include "test/emulator/calls/library_call.h"
#include "test/emulator/libcublaslt/descriptors.h"

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

/// cublasLtHandle_t has nothing of its own.
struct Handle {
  bool hasKernels = false; ///< on the device: they are loaded with the first product
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

/// Returns the error of `expression` from the current function, if it is one.
#define TRAINC_CUBLAS(expression)                                                                            \
  do {                                                                                                       \
    if (const cublasStatus_t status_ = (expression); status_ != CUBLAS_STATUS_SUCCESS)                       \
      return status_;                                                                                        \
  } while (false)
