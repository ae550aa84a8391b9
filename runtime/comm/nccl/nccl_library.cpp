#include "runtime/comm/nccl/nccl_library.h"

namespace trainc {

namespace {

constexpr const char *kNcclFile = "libnccl.so.2";
constexpr int kMinNcclVersion = NCCL_VERSION(2, 28, 0);
constexpr const char *kNcclAdvice =
    "install NCCL 2.28 or newer for CUDA 13 (the package libnccl2, or nvidia-nccl-cu13 of PyPI), and add its "
    "folder to LD_LIBRARY_PATH";

/// Written by loadNccl(); a function-local static, because its errors already need the library's own
/// messages.
NcclLibrary &loadedNccl() {
  static NcclLibrary library;
  return library;
}

Status loadNcclOnce() {
  TRAINC_ASSIGN_OR_RETURN(VendorLibrary file, VendorLibrary::open(kNcclFile, kNcclAdvice));
  NcclLibrary &library = loadedNccl();
  library.errorString = reinterpret_cast<decltype(library.errorString)>(file.find("ncclGetErrorString"));
  library.lastError = reinterpret_cast<decltype(library.lastError)>(file.find("ncclGetLastError"));
  library.ncclGetVersion.bind(file);
  TRAINC_RETURN_IF_ERROR(file.complete(kNcclAdvice));
  // Checked before the entry points, which an old version may lack.
  TRAINC_RETURN_IF_ERROR(library.ncclGetVersion(&library.version));
  if (library.version < kMinNcclVersion)
    return failed("expected NCCL {} or newer, found {}; {}", vendorVersionText(kMinNcclVersion),
                  vendorVersionText(library.version), kNcclAdvice);
#define TRAINC_NCCL_BIND(name) library.name.bind(file);
  TRAINC_NCCL_ENTRIES(TRAINC_NCCL_BIND)
#undef TRAINC_NCCL_BIND
  return file.complete(kNcclAdvice);
}

const char *adviceOn(ncclResult_t code) {
  switch (code) {
  case ncclUnhandledCudaError:
  case ncclSystemError:
  case ncclInternalError:
    return "; NCCL_DEBUG=INFO makes NCCL say more";
  case ncclRemoteError:
    return "; another rank has ended, or the network between them fails";
  default:
    return "";
  }
}

} // namespace

Status NcclVendor::status(const char *call, ncclResult_t code) {
  if (code == ncclSuccess || code == ncclInProgress)
    return {};
  const NcclLibrary &library = loadedNccl();
  const std::string last = library.lastError(nullptr);
  return failed("{}: {}{}{}{}", call, library.errorString(code), last.empty() ? "" : ": ", last,
                adviceOn(code));
}

Status loadNccl() {
  static const Status status = loadNcclOnce();
  return status;
}

const NcclLibrary &nccl() { return loadedNccl(); }

} // namespace trainc
