// NCCL, libnccl.so.2.
#pragma once

#include "base/vendor_library.h"

#include <nccl.h>
#include <string>

namespace trainc {

/// Translates NCCL's result codes to Status; the only place that does.
struct NcclVendor {
  /// Ok for ncclSuccess and for ncclInProgress (NcclGroup then waits); else kFailed with the call and NCCL's
  /// text.
  static Status status(const char *call, ncclResult_t code);
};

#define TRAINC_NCCL_ENTRIES(X)                                                                               \
  X(ncclGetVersion)                                                                                          \
  X(ncclGetUniqueId)                                                                                         \
  X(ncclCommInitRankConfig)                                                                                  \
  X(ncclCommGetAsyncError)                                                                                   \
  X(ncclCommAbort)                                                                                           \
  X(ncclCommFinalize)                                                                                        \
  X(ncclCommDestroy)                                                                                         \
  X(ncclCommRegister)                                                                                        \
  X(ncclCommDeregister)                                                                                      \
  X(ncclMemAlloc)                                                                                            \
  X(ncclMemFree)                                                                                             \
  X(ncclGroupStart)                                                                                          \
  X(ncclGroupEnd)                                                                                            \
  X(ncclAllGather)                                                                                           \
  X(ncclReduceScatter)                                                                                       \
  X(ncclAllReduce)                                                                                           \
  X(ncclSend)                                                                                                \
  X(ncclRecv)

/// Entry points, named as in NCCL's header.
struct NcclLibrary {
#define TRAINC_NCCL_ENTRY(name) TRAINC_VENDOR_ENTRY(NcclVendor, name);
  TRAINC_NCCL_ENTRIES(TRAINC_NCCL_ENTRY)
#undef TRAINC_NCCL_ENTRY
  decltype(&::ncclGetErrorString) errorString = nullptr;
  decltype(&::ncclGetLastError) lastError = nullptr;
  int version = 0; ///< encoded as by NCCL_VERSION
};

/// Loads NCCL, once per process. Fails with kFailed if the library is missing or older than 2.28.
Status loadNccl();

/// The library that loadNccl() has loaded.
const NcclLibrary &nccl();

/// Minimum version that supports several ranks per GPU.
inline constexpr int kNcclManyRanksOfGpu = NCCL_VERSION(2, 30, 0);

} // namespace trainc
