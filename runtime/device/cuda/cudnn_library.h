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

#define TRAINC_CUDNN_ENTRIES(X)                                                                              \
  X(cudnnGetVersion)                                                                                         \
  X(cudnnGetErrorString)                                                                                     \
  X(cudnnGetLastErrorString)                                                                                 \
  X(cudnnCreate)                                                                                             \
  X(cudnnDestroy)                                                                                            \
  X(cudnnSetStream)                                                                                          \
  X(cudnnBackendCreateDescriptor)                                                                            \
  X(cudnnBackendDestroyDescriptor)                                                                           \
  X(cudnnBackendSetAttribute)                                                                                \
  X(cudnnBackendGetAttribute)                                                                                \
  X(cudnnBackendFinalize)                                                                                    \
  X(cudnnBackendExecute)

/// Entry points, named as in cuDNN's header.
struct CudnnLibrary {
#define TRAINC_CUDNN_ENTRY(name) TRAINC_VENDOR_ENTRY(CudnnVendor, name);
  TRAINC_CUDNN_ENTRIES(TRAINC_CUDNN_ENTRY)
#undef TRAINC_CUDNN_ENTRY
};

/// Loads cuDNN, once per process. Fails with kFailed if the library is missing or older than 9.18.
Status loadCudnn();

/// The library that loadCudnn() has loaded.
const CudnnLibrary &cudnn();

} // namespace trainc
