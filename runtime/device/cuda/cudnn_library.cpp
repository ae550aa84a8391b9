#include "runtime/device/cuda/cudnn_library.h"

#include <array>

namespace trainc {

namespace {

#define TRAINC_CUDNN_FILE_INNER(major) "libcudnn.so." #major
#define TRAINC_CUDNN_FILE(major) TRAINC_CUDNN_FILE_INNER(major)
constexpr const char *kCudnnFile = TRAINC_CUDNN_FILE(CUDNN_MAJOR);
/// Minimum version with all engines that are requested by number.
constexpr size_t kMinCudnnVersion = 91800;
constexpr const char *kCudnnAdvice =
    "install cuDNN 9.18 or newer for CUDA 13 (the package libcudnn9-cuda-13, or nvidia-cudnn-cu13 of PyPI) "
    "and add its folder to LD_LIBRARY_PATH, or compile the model with --library-calls=products";

CudnnLibrary &loadedCudnn() {
  static CudnnLibrary library;
  return library;
}

Status loadCudnnOnce() {
  TRAINC_ASSIGN_OR_RETURN(VendorLibrary file, VendorLibrary::open(kCudnnFile, kCudnnAdvice));
  CudnnLibrary &library = loadedCudnn();
#define TRAINC_CUDNN_BIND(name) library.name.bind(file);
  TRAINC_CUDNN_ENTRIES(TRAINC_CUDNN_BIND)
#undef TRAINC_CUDNN_BIND
  TRAINC_RETURN_IF_ERROR(file.complete(kCudnnAdvice));
  return expectVendorVersion("cuDNN", library.cudnnGetVersion.raw(), kMinCudnnVersion, kCudnnAdvice);
}

} // namespace

Status CudnnVendor::status(const char *call, cudnnStatus_t code) {
  if (code == CUDNN_STATUS_SUCCESS)
    return {};
  std::array<char, 1024> said{};
  loadedCudnn().cudnnGetLastErrorString.raw(said.data(), said.size());
  return failed("{}: {} (error {}){}{}", call, loadedCudnn().cudnnGetErrorString.raw(code),
                static_cast<int>(code), said[0] == 0 ? "" : ": ", said.data());
}

Status loadCudnn() {
  static const Status status = loadCudnnOnce();
  return status;
}

const CudnnLibrary &cudnn() { return loadedCudnn(); }

} // namespace trainc
