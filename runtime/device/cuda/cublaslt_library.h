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

/// Entry points, named as in cuBLASLt's header.
struct CublasLtLibrary : VendorTable {
  using Vendor = CublasLtVendor;
  TRAINC_VENDOR_BASIC(cublasLtGetVersion);
  TRAINC_VENDOR_BASIC(cublasLtGetStatusString);
  TRAINC_VENDOR_ENTRY(cublasLtCreate);
  TRAINC_VENDOR_ENTRY(cublasLtDestroy);
  TRAINC_VENDOR_ENTRY(cublasLtMatmulDescCreate);
  TRAINC_VENDOR_ENTRY(cublasLtMatmulDescDestroy);
  TRAINC_VENDOR_ENTRY(cublasLtMatmulDescSetAttribute);
  TRAINC_VENDOR_ENTRY(cublasLtMatrixLayoutCreate);
  TRAINC_VENDOR_ENTRY(cublasLtMatrixLayoutDestroy);
  TRAINC_VENDOR_ENTRY(cublasLtMatrixLayoutSetAttribute);
  TRAINC_VENDOR_ENTRY(cublasLtMatmulPreferenceCreate);
  TRAINC_VENDOR_ENTRY(cublasLtMatmulPreferenceDestroy);
  TRAINC_VENDOR_ENTRY(cublasLtMatmulPreferenceSetAttribute);
  TRAINC_VENDOR_ENTRY(cublasLtMatmulAlgoGetHeuristic);
  TRAINC_VENDOR_ENTRY(cublasLtMatmul);

  Status load();
};

/// Loads cuBLASLt, once per process. Fails with kFailed if the library is missing or older than that of CUDA
/// 13.0.
Status loadCublasLt();

/// The library that loadCublasLt() has loaded.
const CublasLtLibrary &cublasLt();

} // namespace trainc
