// Graphs of operations of the vendor's, libcudnn.so.9.
#pragma once

#include "runtime/base/vendor_library.h"

#include <cudnn_graph.h>

namespace trainc {

/// What cuDNN's codes are to the user.
struct CudnnVendor {
  /// Ok for CUDNN_STATUS_SUCCESS; else kFailed with the call, the code's text, and what the library says of
  /// it.
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

/// Its entry points, under the names of its header.
struct CudnnLibrary {
#define TRAINC_CUDNN_ENTRY(name) TRAINC_VENDOR_ENTRY(CudnnVendor, name);
  TRAINC_CUDNN_ENTRIES(TRAINC_CUDNN_ENTRY)
#undef TRAINC_CUDNN_ENTRY
};

/// Loads it, once in a process. Fails (kFailed) when there is none, or one older than
/// 9.18.
Status loadCudnn();

/// What loadCudnn() has loaded.
const CudnnLibrary &cudnn();

} // namespace trainc
