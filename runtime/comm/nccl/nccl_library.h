// NCCL, libnccl.so.2.
#pragma once

#include "runtime/base/vendor_library.h"

#include <nccl.h>
#include <string>

namespace trainc {

/// What NCCL's codes are to the user: the one place that says so.
struct NcclVendor {
  /// Ok for ncclSuccess, and for ncclInProgress, after which NcclGroup waits; else kFailed with the call and
  /// what NCCL says of it.
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

/// Its entry points, under the names of its header.
struct NcclLibrary {
#define TRAINC_NCCL_ENTRY(name) TRAINC_VENDOR_ENTRY(NcclVendor, name);
  TRAINC_NCCL_ENTRIES(TRAINC_NCCL_ENTRY)
#undef TRAINC_NCCL_ENTRY
  decltype(&::ncclGetErrorString) errorString = nullptr;
  decltype(&::ncclGetLastError) lastError = nullptr;
  int version = 0; ///< as NCCL_VERSION makes it
};

/// Loads it, once in a process. Fails (kFailed) when there is none, or one older than 2.28.
Status loadNccl();

/// What loadNccl() has loaded.
const NcclLibrary &nccl();

/// From which version on several ranks may share a GPU.
inline constexpr int kNcclManyRanksOfGpu = NCCL_VERSION(2, 30, 0);

} // namespace trainc
