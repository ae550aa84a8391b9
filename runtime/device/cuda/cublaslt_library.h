// cuBLASLt, libcublasLt.so.13.
#pragma once

#include "base/vendor_library.h"

#include <cublasLt.h>

namespace trainc {

/// Translates cuBLASLt's status codes to Status.
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

/// Entry points, named as in cuBLASLt's header.
struct CublasLtLibrary {
#define TRAINC_CUBLASLT_ENTRY(name) TRAINC_VENDOR_ENTRY(CublasLtVendor, name);
  TRAINC_CUBLASLT_ENTRIES(TRAINC_CUBLASLT_ENTRY)
#undef TRAINC_CUBLASLT_ENTRY
};

/// Loads cuBLASLt, once per process. Fails with kFailed if the library is missing or older than that of CUDA
/// 13.0.
Status loadCublasLt();

/// The library that loadCublasLt() has loaded.
const CublasLtLibrary &cublasLt();

} // namespace trainc
