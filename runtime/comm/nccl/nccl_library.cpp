#include "runtime/comm/nccl/nccl_library.h"

namespace trainc {

namespace {

constexpr VendorFacts kNccl = {
    .file = "libnccl.so.2",
    .name = "NCCL",
    .minVersion = NCCL_VERSION(2, 28, 0),
    .isOneMajor = false,
    .advice = "install NCCL 2.28 or newer for CUDA 13 (the package libnccl2, or nvidia-nccl-cu13 of PyPI), "
              "and add its folder to LD_LIBRARY_PATH",
};

/// Written by loadNccl(); a function-local static, because its errors already need the library's own
/// messages.
NcclLibrary &loadedNccl() {
  static NcclLibrary library;
  return library;
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
  const std::string last = library.ncclGetLastError.raw(nullptr);
  return failed("{}: {}{}{}{}", call, library.ncclGetErrorString.raw(code), last.empty() ? "" : ": ", last,
                adviceOn(code));
}

Status NcclLibrary::load() {
  return VendorTable::load(kNccl, []() -> Result<size_t> {
    NcclLibrary &library = loadedNccl();
    TRAINC_RETURN_IF_ERROR(library.ncclGetVersion(&library.version));
    return static_cast<size_t>(library.version);
  });
}

Status loadNccl() {
  static const Status status = loadedNccl().load();
  return status;
}

const NcclLibrary &nccl() { return loadedNccl(); }

} // namespace trainc
