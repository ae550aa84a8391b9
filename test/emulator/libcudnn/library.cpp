#include "test/emulator/libcudnn/library.h"

#include "test/emulator/calls/names.h"
#include "test/emulator/libcuda/extension.h"

namespace trainc::emulator {

namespace {

constexpr NamedStatus<cudnnStatus_t> kCudnnStatuses[] = {
    TRAINC_NAMED_STATUS(CUDNN_STATUS_SUCCESS),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_NOT_INITIALIZED),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_BAD_PARAM),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_BAD_PARAM_NULL_POINTER),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_NOT_SUPPORTED),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_NOT_SUPPORTED_SHAPE),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_INTERNAL_ERROR),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED),
    TRAINC_NAMED_STATUS(CUDNN_STATUS_EXECUTION_FAILED),
};

std::optional<int> cudnnStatusNamed(std::string_view name) {
  return statusIn<cudnnStatus_t>(kCudnnStatuses, name);
}

} // namespace

std::string_view CudnnState::nameOf(cudnnStatus_t status) {
  return nameIn<cudnnStatus_t>(kCudnnStatuses, status);
}

CudnnState &CudnnState::get() {
  // never destroyed: the device's thread may use it until the process ends
  static CudnnState &library = *new CudnnState;
  return library;
}

CudnnState::CudnnState() : calls({"cudnn", kCudnnEntryPoints, cudnnStatusNamed}) { calls.reset(); }

size_t emulatedVersion() { return versionIn("TRAINC_EMULATOR_CUDNN", CUDNN_VERSION); }

} // namespace trainc::emulator

using namespace trainc::emulator;

extern "C" {

cudnnStatus_t CUDNNWINAPI cudnnCreate(cudnnHandle_t *handle) {
  resetUnused(CudnnState::get());
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
  return trainc::emulator::emulatedVersion();
}

const char *CUDNNWINAPI cudnnGetErrorString(cudnnStatus_t status) {
  cudnnEntry("cudnnGetErrorString", [](CudnnCall &) { return CUDNN_STATUS_SUCCESS; });
  return CudnnState::nameOf(status).data();
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
