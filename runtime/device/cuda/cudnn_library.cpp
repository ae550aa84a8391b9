#include "runtime/device/cuda/cudnn_library.h"

#include <array>

namespace trainc {

namespace {

#define TRAINC_CUDNN_FILE_INNER(major) "libcudnn.so." #major
#define TRAINC_CUDNN_FILE(major) TRAINC_CUDNN_FILE_INNER(major)
constexpr const char *kCudnnFile = TRAINC_CUDNN_FILE(CUDNN_MAJOR);

constexpr VendorFacts kCudnn = {
    .file = kCudnnFile,
    .name = "cuDNN",
    .minVersion = 91800, // has all engines that are requested by number
    .isOneMajor = true,
    .advice = "install cuDNN 9.18 or newer for CUDA 13 (the package libcudnn9-cuda-13, or nvidia-cudnn-cu13 "
              "of PyPI) and add its folder to LD_LIBRARY_PATH, or compile the model with "
              "--library-calls=products",
};

CudnnLibrary &loadedCudnn() {
  static CudnnLibrary library;
  return library;
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

Status CudnnLibrary::load() {
  return VendorTable::load(kCudnn, []() -> Result<size_t> { return cudnn().cudnnGetVersion.raw(); });
}

Status loadCudnn() {
  static const Status status = loadedCudnn().load();
  return status;
}

const CudnnLibrary &cudnn() { return loadedCudnn(); }

} // namespace trainc
