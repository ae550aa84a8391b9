#include "runtime/device/cuda/cublaslt_library.h"

namespace trainc {

namespace {

#define TRAINC_CUBLASLT_FILE_INNER(major) "libcublasLt.so." #major
#define TRAINC_CUBLASLT_FILE(major) TRAINC_CUBLASLT_FILE_INNER(major)
constexpr const char *kCublasLtFile = TRAINC_CUBLASLT_FILE(CUBLAS_VER_MAJOR);

constexpr VendorFacts kCublasLt = {
    .file = kCublasLtFile,
    .name = "cuBLASLt",
    .minVersion = 130000, // CUDA 13.0 has all entry points in use, whatever header this was compiled with
    .isOneMajor = true,
    .advice = "install cuBLAS of the CUDA toolkit 13 (the package libcublas-13-0 or newer, or nvidia-cublas "
              "of PyPI), and add its folder to LD_LIBRARY_PATH, or compile the model with "
              "--library-calls=attention or none",
};

CublasLtLibrary &loadedCublasLt() {
  static CublasLtLibrary library;
  return library;
}

} // namespace

Status CublasLtVendor::status(const char *call, cublasStatus_t code) {
  if (code == CUBLAS_STATUS_SUCCESS)
    return {};
  return failed("{}: error {} ({})", call, static_cast<int>(code),
                loadedCublasLt().cublasLtGetStatusString.raw(code));
}

Status CublasLtLibrary::load() {
  return VendorTable::load(kCublasLt, []() -> Result<size_t> { return cublasLt().cublasLtGetVersion.raw(); });
}

Status loadCublasLt() {
  static const Status status = loadedCublasLt().load();
  return status;
}

const CublasLtLibrary &cublasLt() { return loadedCublasLt(); }

} // namespace trainc
