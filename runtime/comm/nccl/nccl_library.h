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

/// Entry points, named as in NCCL's header.
struct NcclLibrary : VendorTable {
  using Vendor = NcclVendor;
  TRAINC_VENDOR_BASIC(ncclGetVersion);
  TRAINC_VENDOR_BASIC(ncclGetErrorString);
  TRAINC_VENDOR_BASIC(ncclGetLastError);
  TRAINC_VENDOR_ENTRY(ncclGetUniqueId);
  TRAINC_VENDOR_ENTRY(ncclCommInitRankConfig);
  TRAINC_VENDOR_ENTRY(ncclCommGetAsyncError);
  TRAINC_VENDOR_ENTRY(ncclCommAbort);
  TRAINC_VENDOR_ENTRY(ncclCommFinalize);
  TRAINC_VENDOR_ENTRY(ncclCommDestroy);
  TRAINC_VENDOR_ENTRY(ncclCommRegister);
  TRAINC_VENDOR_ENTRY(ncclCommDeregister);
  TRAINC_VENDOR_ENTRY(ncclMemAlloc);
  TRAINC_VENDOR_ENTRY(ncclMemFree);
  TRAINC_VENDOR_ENTRY(ncclGroupStart);
  TRAINC_VENDOR_ENTRY(ncclGroupEnd);
  TRAINC_VENDOR_ENTRY(ncclAllGather);
  TRAINC_VENDOR_ENTRY(ncclReduceScatter);
  TRAINC_VENDOR_ENTRY(ncclAllReduce);
  TRAINC_VENDOR_ENTRY(ncclSend);
  TRAINC_VENDOR_ENTRY(ncclRecv);
  int version = 0; ///< encoded as by NCCL_VERSION

  Status load();
};

/// Loads NCCL, once per process. Fails with kFailed if the library is missing or older than 2.28.
Status loadNccl();

/// The library that loadNccl() has loaded.
const NcclLibrary &nccl();

/// Minimum version that supports several ranks per GPU.
inline constexpr int kNcclManyRanksOfGpu = NCCL_VERSION(2, 30, 0);

} // namespace trainc
