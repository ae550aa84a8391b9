#include "runtime/cuda/driver_library.h"

namespace trainc {

namespace {

constexpr VendorFacts kDriver = {
    .file = "libcuda.so.1",
    .name = "an NVIDIA driver for CUDA",
    .minVersion = 13000,
    .isOneMajor = false,
    .advice = "install the NVIDIA driver for CUDA 13.0 or newer (580 or newer), or run a plan for CPUs, "
              "which trainc compile makes with --target=cpu",
    .versionText = cudaVersionText,
};

/// Written by loadDriver(); a function-local static, because its errors already need the library's own
/// messages.
DriverLibrary &loadedDriver() {
  static DriverLibrary library;
  return library;
}

const char *adviceOn(CUresult code) {
  switch (code) {
  case CUDA_ERROR_NO_DEVICE:
    return "; no GPU is visible: does nvidia-smi show one, and what does CUDA_VISIBLE_DEVICES say?";
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
  case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    return "; libcuda.so.1 and the kernel's driver are of different versions: restart the machine after an "
           "update, or leave CUDA's compatibility package out of LD_LIBRARY_PATH";
  case CUDA_ERROR_DEVICE_UNAVAILABLE:
    return "; another process uses the GPU alone (nvidia-smi -c 0 lets others in)";
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_NVLINK_UNCORRECTABLE:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
    return "; the hardware is at fault: nvidia-smi -q and the kernel's log (dmesg) say more";
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_LAUNCH_FAILED:
    return "; a kernel failed, and the GPU does nothing more for this process: run the same command under "
           "compute-sanitizer, which names the kernel, and report it";
  default:
    return "";
  }
}

} // namespace

Status CudaVendor::status(const char *call, CUresult code) {
  if (code == CUDA_SUCCESS)
    return {};
  const char *name = nullptr, *text = nullptr;
  if (loadedDriver().cuGetErrorName.raw(code, &name) != CUDA_SUCCESS ||
      loadedDriver().cuGetErrorString.raw(code, &text) != CUDA_SUCCESS)
    return failed("{}: error {}, which the driver has no name for", call, static_cast<int>(code));
  return failed("{}: {} ({}){}", call, name, text, adviceOn(code));
}

Status DriverLibrary::load() {
  TRAINC_RETURN_IF_ERROR(VendorTable::load(kDriver, []() -> Result<size_t> {
    DriverLibrary &library = loadedDriver();
    TRAINC_RETURN_IF_ERROR(library.cuDriverGetVersion(&library.version));
    return static_cast<size_t>(library.version);
  }));
  return cuInit(0);
}

Status loadDriver() {
  static const Status status = loadedDriver().load();
  return status;
}

const DriverLibrary &driver() { return loadedDriver(); }

std::string cudaVersionText(size_t version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

} // namespace trainc
