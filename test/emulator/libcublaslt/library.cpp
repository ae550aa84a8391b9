#include "test/emulator/libcublaslt/library.h"

#include "test/emulator/calls/names.h"

namespace trainc::emulator {

namespace {

constexpr NamedStatus<cublasStatus_t> kStatuses[] = {
    TRAINC_NAMED_STATUS(CUBLAS_STATUS_SUCCESS),          TRAINC_NAMED_STATUS(CUBLAS_STATUS_NOT_INITIALIZED),
    TRAINC_NAMED_STATUS(CUBLAS_STATUS_ALLOC_FAILED),     TRAINC_NAMED_STATUS(CUBLAS_STATUS_INVALID_VALUE),
    TRAINC_NAMED_STATUS(CUBLAS_STATUS_ARCH_MISMATCH),    TRAINC_NAMED_STATUS(CUBLAS_STATUS_MAPPING_ERROR),
    TRAINC_NAMED_STATUS(CUBLAS_STATUS_EXECUTION_FAILED), TRAINC_NAMED_STATUS(CUBLAS_STATUS_INTERNAL_ERROR),
    TRAINC_NAMED_STATUS(CUBLAS_STATUS_NOT_SUPPORTED),    TRAINC_NAMED_STATUS(CUBLAS_STATUS_LICENSE_ERROR),
};

std::optional<int> statusNamed(std::string_view name) { return statusIn<cublasStatus_t>(kStatuses, name); }

} // namespace

std::string_view Library::nameOf(cublasStatus_t status) { return nameIn<cublasStatus_t>(kStatuses, status); }

Library &Library::get() {
  // never destroyed: the device's thread may use it until the process ends
  static Library &library = *new Library;
  return library;
}

Library::Library() : calls({"cublasLt", kEntryPoints, statusNamed}) { calls.reset(); }

} // namespace trainc::emulator

using namespace trainc::emulator;

extern "C" {

cublasStatus_t CUBLASWINAPI cublasLtCreate(cublasLtHandle_t *handle) {
  resetUnused(Library::get());
  return entry("cublasLtCreate", [&](Call &call) {
    if (!handle)
      return call.refuse(CUBLAS_STATUS_INVALID_VALUE, "the place for the handle is null");
    *handle = call.library.handles.add(std::make_shared<Handle>());
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t CUBLASWINAPI cublasLtDestroy(cublasLtHandle_t handle) {
  return entry("cublasLtDestroy", [&](Call &call) {
    std::shared_ptr<Handle> object;
    TRAINC_CUBLAS(call.need(call.library.handles, handle, object));
    call.library.handles.remove(handle);
    return CUBLAS_STATUS_SUCCESS;
  });
}

size_t CUBLASWINAPI cublasLtGetVersion() {
  entry("cublasLtGetVersion", [](Call &) { return CUBLAS_STATUS_SUCCESS; });
  return versionIn("TRAINC_EMULATOR_CUBLASLT", CUBLAS_VERSION);
}

const char *CUBLASWINAPI cublasLtGetStatusString(cublasStatus_t status) {
  entry("cublasLtGetStatusString", [](Call &) { return CUBLAS_STATUS_SUCCESS; });
  return Library::nameOf(status).data();
}

} // extern "C"
