#include "test/emulator/libcudnn/library.h"

#include "test/emulator/libcuda/extension.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace trainc::emulator {

namespace {

struct CudnnStatusText {
  cudnnStatus_t status;
  const char *name;
};

#define TRAINC_STATUS(name) {name, #name}
constexpr CudnnStatusText kCudnnStatuses[] = {
    TRAINC_STATUS(CUDNN_STATUS_SUCCESS),
    TRAINC_STATUS(CUDNN_STATUS_NOT_INITIALIZED),
    TRAINC_STATUS(CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED),
    TRAINC_STATUS(CUDNN_STATUS_BAD_PARAM),
    TRAINC_STATUS(CUDNN_STATUS_BAD_PARAM_NULL_POINTER),
    TRAINC_STATUS(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER),
    TRAINC_STATUS(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED),
    TRAINC_STATUS(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT),
    TRAINC_STATUS(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH),
    TRAINC_STATUS(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES),
    TRAINC_STATUS(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE),
    TRAINC_STATUS(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE),
    TRAINC_STATUS(CUDNN_STATUS_NOT_SUPPORTED),
    TRAINC_STATUS(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN),
    TRAINC_STATUS(CUDNN_STATUS_NOT_SUPPORTED_SHAPE),
    TRAINC_STATUS(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE),
    TRAINC_STATUS(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT),
    TRAINC_STATUS(CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH),
    TRAINC_STATUS(CUDNN_STATUS_INTERNAL_ERROR),
    TRAINC_STATUS(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED),
    TRAINC_STATUS(CUDNN_STATUS_EXECUTION_FAILED),
};
#undef TRAINC_STATUS

std::optional<int> cudnnStatusNamed(std::string_view name) {
  for (const CudnnStatusText &each : kCudnnStatuses)
    if (each.name == name)
      return each.status;
  return std::nullopt;
}

/// TRAINC_EMULATOR_CUDNN, else that of the header.
size_t cudnnVersion() {
  const char *text = std::getenv("TRAINC_EMULATOR_CUDNN");
  if (!text)
    return CUDNN_VERSION;
  size_t number = 0;
  const char *end = text + std::strlen(text);
  if (const auto read = std::from_chars(text, end, number); read.ec != std::errc() || read.ptr != end) {
    fmt::print(stderr, "emulated GPU: TRAINC_EMULATOR_CUDNN: expected a version, e.g. {}, found '{}'\n",
               CUDNN_VERSION, text);
    std::_Exit(2);
  }
  return number;
}

} // namespace

std::string_view nameOf(cudnnStatus_t status) {
  for (const CudnnStatusText &each : kCudnnStatuses)
    if (each.status == status)
      return each.name;
  return "an unknown status";
}

CudnnState &CudnnState::get() {
  static CudnnState &library = *new CudnnState; // the device's thread may use it until the process ends
  return library;
}

CudnnState::CudnnState() : calls({"cudnn", kCudnnEntryPoints, cudnnStatusNamed}) { calls.reset(); }

} // namespace trainc::emulator

using namespace trainc::emulator;

extern "C" {

cudnnStatus_t CUDNNWINAPI cudnnCreate(cudnnHandle_t *handle) {
  {
    CudnnState &library = CudnnState::get();
    const std::lock_guard held(library.mutex);
    if (library.handles.empty()) // before the call is counted: the environment may have a fault for it
      library.calls.reset();
  }
  return cudnnEntry("cudnnCreate", [&](CudnnCall &call) {
    if (!handle)
      return call.refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "the place for the handle is null");
    if (emulatorCapability() == 0)
      return call.refuse(CUDNN_STATUS_NOT_INITIALIZED, "the calling thread has no context");
    *handle = call.library.handles.add(std::make_shared<CudnnHandleState>());
    return CUDNN_STATUS_SUCCESS;
  });
}

cudnnStatus_t CUDNNWINAPI cudnnDestroy(cudnnHandle_t handle) {
  return cudnnEntry("cudnnDestroy", [&](CudnnCall &call) {
    std::shared_ptr<CudnnHandleState> object;
    TRAINC_CUDNN(call.need(call.library.handles, handle, object));
    call.library.handles.remove(handle);
    return CUDNN_STATUS_SUCCESS;
  });
}

cudnnStatus_t CUDNNWINAPI cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  return cudnnEntry("cudnnSetStream", [&](CudnnCall &call) {
    std::shared_ptr<CudnnHandleState> object;
    TRAINC_CUDNN(call.need(call.library.handles, handle, object));
    object->stream = stream;
    return CUDNN_STATUS_SUCCESS;
  });
}

size_t CUDNNWINAPI cudnnGetVersion() {
  cudnnEntry("cudnnGetVersion", [](CudnnCall &) { return CUDNN_STATUS_SUCCESS; });
  return cudnnVersion();
}

const char *CUDNNWINAPI cudnnGetErrorString(cudnnStatus_t status) {
  cudnnEntry("cudnnGetErrorString", [](CudnnCall &) { return CUDNN_STATUS_SUCCESS; });
  return nameOf(status).data();
}

void CUDNNWINAPI cudnnGetLastErrorString(char *message, size_t size) {
  cudnnEntry("cudnnGetLastErrorString", [&](CudnnCall &call) {
    if (message && size > 0)
      message[call.library.lastError.copy(message, size - 1)] = 0;
    call.library.lastError.clear();
    return CUDNN_STATUS_SUCCESS;
  });
}

} // extern "C"
