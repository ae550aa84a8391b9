// Matrix products of the vendor's, libcublasLt.so.13.
#pragma once

#include "runtime/base/vendor_library.h"

#include <cublasLt.h>

namespace trainc {

/// What cuBLASLt's codes are to the user.
struct CublasLtVendor {
  /// Ok for CUBLAS_STATUS_SUCCESS; else kFailed with the call and the code's text.
  static Status status(const char *call, cublasStatus_t code);
};

#define TRAINC_CUBLASLT_ENTRIES(X)                                                                           \
  X(cublasLtCreate)                                                                                          \
  X(cublasLtDestroy)                                                                                         \
  X(cublasLtGetVersion)                                                                                      \
  X(cublasLtGetStatusString)                                                                                 \
  X(cublasLtMatmulDescCreate)                                                                                \
  X(cublasLtMatmulDescDestroy)                                                                               \
  X(cublasLtMatmulDescSetAttribute)                                                                          \
  X(cublasLtMatrixLayoutCreate)                                                                              \
  X(cublasLtMatrixLayoutDestroy)                                                                             \
  X(cublasLtMatrixLayoutSetAttribute)                                                                        \
  X(cublasLtMatmulPreferenceCreate)                                                                          \
  X(cublasLtMatmulPreferenceDestroy)                                                                         \
  X(cublasLtMatmulPreferenceSetAttribute)                                                                    \
  X(cublasLtMatmulAlgoGetHeuristic)                                                                          \
  X(cublasLtMatmul)

/// Its entry points, under the names of its header.
struct CublasLtLibrary {
#define TRAINC_CUBLASLT_ENTRY(name) TRAINC_VENDOR_ENTRY(CublasLtVendor, name);
  TRAINC_CUBLASLT_ENTRIES(TRAINC_CUBLASLT_ENTRY)
#undef TRAINC_CUBLASLT_ENTRY
};

/// Loads it, once in a process. Fails (kFailed) when there is none, or one older than
/// CUDA 13.0's.
Status loadCublasLt();

/// What loadCublasLt() has loaded.
const CublasLtLibrary &cublasLt();

} // namespace trainc
