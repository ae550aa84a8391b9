#include "runtime/device/cuda/cublaslt_library.h"

namespace trainc {

namespace {

#define TRAINC_CUBLASLT_FILE_INNER(major) "libcublasLt.so." #major
#define TRAINC_CUBLASLT_FILE(major) TRAINC_CUBLASLT_FILE_INNER(major)
constexpr const char *kCublasLtFile = TRAINC_CUBLASLT_FILE(CUBLAS_VER_MAJOR);
/// Minimum version: CUDA 13.0 has all entry points in use, whatever header this was compiled with.
constexpr size_t kMinCublasLtVersion = 130000;
constexpr const char *kCublasLtAdvice =
    "install cuBLAS of the CUDA toolkit 13 (the package libcublas-13-0 or newer, or nvidia-cublas of PyPI), "
    "and add its folder to LD_LIBRARY_PATH, or compile the model with --library-calls=attention or none";

CublasLtLibrary &loadedCublasLt() {
  static CublasLtLibrary library;
  return library;
}

Status loadCublasLtOnce() {
  TRAINC_ASSIGN_OR_RETURN(VendorLibrary file, VendorLibrary::open(kCublasLtFile, kCublasLtAdvice));
  CublasLtLibrary &library = loadedCublasLt();
#define TRAINC_CUBLASLT_BIND(name) library.name.bind(file);
  TRAINC_CUBLASLT_ENTRIES(TRAINC_CUBLASLT_BIND)
#undef TRAINC_CUBLASLT_BIND
  TRAINC_RETURN_IF_ERROR(file.complete(kCublasLtAdvice));
  return expectVendorVersion("cuBLASLt", library.cublasLtGetVersion.raw(), kMinCublasLtVersion,
                             kCublasLtAdvice);
}

} // namespace

Status CublasLtVendor::status(const char *call, cublasStatus_t code) {
  if (code == CUBLAS_STATUS_SUCCESS)
    return {};
  return failed("{}: error {} ({})", call, static_cast<int>(code),
                loadedCublasLt().cublasLtGetStatusString.raw(code));
}

Status loadCublasLt() {
  static const Status status = loadCublasLtOnce();
  return status;
}

const CublasLtLibrary &cublasLt() { return loadedCublasLt(); }

} // namespace trainc
