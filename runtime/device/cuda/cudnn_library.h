// cuDNN, libcudnn.so.9.
#pragma once

#include "base/vendor_library.h"

#include <cudnn_graph.h>

namespace trainc {

/// Translates cuDNN's status codes to Status.
struct CudnnVendor {
  /// Ok for CUDNN_STATUS_SUCCESS; else kFailed with the call, the code's text, and the library's last error
  /// message.
  static Status status(const char *call, cudnnStatus_t code);
};

/// Entry points, named as in cuDNN's header.
struct CudnnLibrary : VendorTable {
  using Vendor = CudnnVendor;
  TRAINC_VENDOR_BASIC(cudnnGetVersion);
  TRAINC_VENDOR_BASIC(cudnnGetErrorString);
  TRAINC_VENDOR_BASIC(cudnnGetLastErrorString);
  TRAINC_VENDOR_ENTRY(cudnnCreate);
  TRAINC_VENDOR_ENTRY(cudnnDestroy);
  TRAINC_VENDOR_ENTRY(cudnnSetStream);
  TRAINC_VENDOR_ENTRY(cudnnBackendCreateDescriptor);
  TRAINC_VENDOR_ENTRY(cudnnBackendDestroyDescriptor);
  TRAINC_VENDOR_ENTRY(cudnnBackendSetAttribute);
  TRAINC_VENDOR_ENTRY(cudnnBackendGetAttribute);
  TRAINC_VENDOR_ENTRY(cudnnBackendFinalize);
  TRAINC_VENDOR_ENTRY(cudnnBackendExecute);

  Status load();
};

/// Loads cuDNN, once per process. Fails with kFailed if the library is missing or older than 9.18.
Status loadCudnn();

/// The library that loadCudnn() has loaded.
const CudnnLibrary &cudnn();

} // namespace trainc
